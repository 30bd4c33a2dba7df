// Passes over a finished function, in the order they run.
#pragma once

#include "gpu-service/shader/ir/function.hpp"
#include "gpu-service/shader/translate.hpp"

namespace orrery::shader::passes {

// A mask tested for "any lane": by vote when it was made from lanes, by its number when it was made as one.
void choose_mask_tests(ir::Function& f);
// Selects that keep the value of lanes which are off, where nobody looks at those lanes.
void drop_unseen_lanes(ir::Function& f);
// Votes become branches on the lane's own bit where lanes may part; where an invocation holds several (alone: one),
// only in constructs with loops, which are set apart. False: none.
bool branch_by_lane(ir::Function& f, bool alone);
// Equal conditions become one, inverse compares each other's opposites. False: there were none.
bool number_booleans(ir::Function& f);
// Masks and selects on them, where a lane's own branches tell how they come out.
void fold_known(ir::Function& f);
// What nothing needs.
void remove_dead(ir::Function& f);
// Lanes of a wave that may communicate through memory or LDS: a fence between the accesses. Hardware needs none, as a
// wave's lanes run in step; a host's subgroup does not promise that.
void fence_accesses(ir::Function& f);

// Who comes to a branch whose outcome the way there decides goes on at once; changes the graph. False: nothing.
bool thread_branches(ir::Function& f, cfg::StructuredGraph& graph, bool alone);

// 64-bit additions by halves, made whole.
void join_words(ir::Function& f);
// Loads side by side; alone: accesses of the same lanes under one branch.
void gather_accesses(ir::Function& f, bool alone);

struct Wishes {
  bool fence = false;  // the host needs fence_accesses
  bool alone = false;  // an invocation holds one lane
  bool apart = false;  // its few lanes may take loops one after the other
};
// For a layout on a host.
Wishes wishes(const LaneLayout& layout, const HostFeatures& host);
// graph: f's own; none: it stays as it is.
void run(ir::Function& f, const Wishes& wishes, cfg::StructuredGraph* graph = nullptr);

}  // namespace orrery::shader::passes
