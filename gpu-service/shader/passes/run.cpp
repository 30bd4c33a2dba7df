#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

namespace {
constexpr uint32_t kMostApart = 4;  // copies of a construct
}

Wishes wishes(const LaneLayout& layout, const HostFeatures& host) {
  // The lanes of one invocation are in order as they are written; those of one vector of a CPU run in lockstep.
  const bool one_vector = host.lockstep_subgroups && layout.exchange == LaneExchange::subgroup;
  // A CPU's vector would go through every lane's turn as a whole, with one lane on.
  const bool apart =
      !host.lockstep_subgroups && layout.exchange == LaneExchange::subgroup && layout.k > 1 && layout.k <= kMostApart;
  return {.fence = !layout.whole_wave() && !one_vector, .alone = layout.k == 1, .apart = apart};
}

void run(ir::Function& f, const Wishes& wishes, cfg::StructuredGraph* graph) {
  choose_mask_tests(f);
  const bool parts = wishes.alone || wishes.apart;
  if (parts) {
    // In front of drop_unseen_lanes, behind which values of lanes that are off are anything.
    remove_dead(f);
    if (wishes.fence) fence_accesses(f);
    if (branch_by_lane(f, wishes.alone)) {
      fold_known(f);
      // What was folded shows more that is equal; once more is enough for nearly all.
      if (wishes.alone && number_booleans(f)) fold_known(f);
    }
  }
  drop_unseen_lanes(f);
  join_words(f);
  remove_dead(f);
  if (parts && graph && thread_branches(f, *graph, wishes.alone)) remove_dead(f);
  if (wishes.fence && !parts) fence_accesses(f);
  gather_accesses(f, wishes.alone);
}

}  // namespace orrery::shader::passes
