// Selections that ask whether any lane goes in, and loops, as a tree over the blocks they hold.
#pragma once

#include <optional>

#include "gpu-service/shader/ir/function.hpp"

namespace orrery::shader::passes {

// A two-way branch on "is any lane of a mask set".
struct Vote {
  ir::Value lanes;    // b1 per lane
  uint32_t any = 0;   // the vote's value
  uint32_t to = 0;    // target when a lane is set
  uint32_t past = 0;  // target when none is
};
std::optional<Vote> vote_of(const ir::Function& f, uint32_t block);

struct Construct {
  enum class Kind : uint8_t { program, selection, loop };
  Kind kind = Kind::program;
  bool closed = true;            // ways lead in from the head alone, and out to the join alone; one way back in a loop
  uint32_t head = 0;             // the branch in front (selection) or the header (loop)
  uint32_t first = 0, last = 0;  // blocks inside, a loop's header among them
  uint32_t join = ~0u;           // where ways out lead
  uint32_t parent = 0;
  ir::Value lanes;               // selection: who goes in
  uint32_t skip = 0;             // selection: the join's predecessor on the way of who doesn't
  uint32_t entry = 0, back = 0;  // loop: places of the two ways among the header's predecessors

  bool holds(uint32_t block) const { return block >= first && block <= last; }
};

struct Constructs {
  std::vector<Construct> all;    // 0: the program; parents in front of what they hold
  std::vector<uint32_t> owner;   // by block: the innermost
  std::vector<uint32_t> joined;  // by block: the selection whose join it is, 0: none
};

// Nothing where loops overlap or selections do not nest.
std::optional<Constructs> find_constructs(const ir::Function& f);

}  // namespace orrery::shader::passes
