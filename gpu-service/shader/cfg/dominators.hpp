// Topological order and immediate dominators of a reducible graph.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu-service/shader/cfg/guest_graph.hpp"

namespace orrery::shader::cfg {

struct Dominators {
  std::vector<uint32_t> order;      // blocks in topological order of the forward edges, the entry first
  std::vector<uint32_t> immediate;  // per block; the entry's is itself
  std::vector<uint32_t> depth;
  std::vector<uint32_t> entering;  // per block: number of forward edges into it
};

// Marks the back edges. Needs every loop to be entered at its header only. n log n.
Dominators dominators(GuestGraph& graph);

}  // namespace orrery::shader::cfg
