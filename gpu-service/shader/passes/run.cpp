#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

Wishes wishes(const LaneLayout& layout, const HostFeatures& host) {
  // The lanes of one invocation are in order as they are written; those of one vector of a CPU run in lockstep.
  const bool one_vector = host.lockstep_subgroups && layout.exchange == LaneExchange::subgroup;
  return {.fence = !layout.whole_wave() && !one_vector, .alone = layout.k == 1};
}

void run(ir::Function& f, const Wishes& wishes) {
  choose_mask_tests(f);
  if (wishes.alone) {
    // In front of drop_unseen_lanes, behind which values of lanes that are off are anything.
    remove_dead(f);
    if (wishes.fence) fence_accesses(f);
    if (branch_by_lane(f)) fold_known(f);
  }
  drop_unseen_lanes(f);
  remove_dead(f);
  if (wishes.fence && !wishes.alone) fence_accesses(f);
}

}  // namespace orrery::shader::passes
