// Where each guest block goes in the nest of constructs, found from the dominator tree and the loops.
//
// A node of the tree is a block (number as in the graph) or a whole loop (blocks + loop number). A block with one
// incoming edge is an arm of the block it comes from. A block where ways join again is a tail of its owner: it comes
// behind the construct that the owner heads. Blocks behind a loop are tails of the loop's node, unless they are pulled
// in: emitted inside, in front of the break.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu-service/shader/cfg/loops.hpp"

namespace orrery::shader::cfg {

struct StructureTree {
  struct Node {
    uint32_t parent = ~0u;        // node that owns this one
    uint32_t depth = 0;           // in the tree
    uint32_t loop = kNoLoop;      // whose construct it lies in directly; a header lies in its own loop
    bool arm = false;             // one incoming edge, from its parent
    std::vector<uint32_t> tails;  // nodes, in topological order
    // The least depth of a node whose tail is reached from inside this node (its own tails' nodes included) without
    // leaving the loop it lies in; own_low: by the block's own edges or, for a loop, by leaving it.
    uint32_t low = ~0u, own_low = ~0u;
    bool continues = false;     // something inside, loops excluded, goes on with the next round of the loop it lies in
    uint32_t instructions = 0;  // guest instructions inside, as a measure of size
  };
  struct LoopExits {
    uint32_t latch = ~0u;                 // block that stands as the loop's continue block; none: an empty one does
    bool continues_parent = false;        // a way leads from inside to the parent's next round
    bool breaks_parent = false;           // a way leads from inside out of the parent
    std::vector<uint32_t> break_targets;  // route values of those ways
  };

  std::vector<Node> nodes;
  std::vector<LoopExits> exits;  // per loop
  std::vector<uint32_t> order;   // blocks, each behind all its dominators
  uint32_t blocks = 0;           // nodes[blocks + l] is loop l

  uint32_t loop_node(uint32_t loop) const { return blocks + loop; }
  // The value of routing variable 0 that means: on the way to this block, or to the next round of this loop.
  uint32_t value_of(const LoopForest& forest, const Edge& edge) const {
    return edge.back ? loop_node(forest.innermost[edge.target]) : edge.target;
  }
};

// Two ways to spare detours through routing variables.
struct Freedom {
  bool repeat_ends = false;  // blocks that only end the wave: one per edge (else only for edges that leave a loop)
  bool latches = false;  // the last block of a loop is its continue block, so that it can be jumped to from anywhere
};

// Marks the back edges (with `latches`, edges to a latch count as such) and repeats blocks that only end the wave.
StructureTree structure_tree(GuestGraph& graph, LoopForest& forest, Freedom freedom);

}  // namespace orrery::shader::cfg
