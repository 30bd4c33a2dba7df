// Loops of a guest graph. An irreducible one (several entries) gets a routing block as its single header.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu-service/shader/cfg/guest_graph.hpp"

namespace orrery::shader::cfg {

inline constexpr uint32_t kNoLoop = ~0u;

struct Loop {
  uint32_t header = 0;
  uint32_t parent = kNoLoop;
  uint32_t depth = 0;  // 0: outermost
};

struct LoopForest {
  std::vector<Loop> loops;          // a parent before its children
  std::vector<uint32_t> innermost;  // per block; kNoLoop outside of all loops
  bool irreducible = false;

  bool holds(uint32_t loop, uint32_t inner) const {
    while (inner != kNoLoop && loops[inner].depth > loops[loop].depth) inner = loops[inner].parent;
    return inner == loop;
  }
};

// Afterwards every loop is entered at its header only, and the entry is in no loop. Near linear; times the nesting
// depth.
LoopForest find_loops(GuestGraph& graph);

}  // namespace orrery::shader::cfg
