// Passes over a finished function, in the order they run.
#pragma once

#include "gpu-service/shader/ir/function.hpp"

namespace orrery::shader::passes {

// A mask tested for "any lane": by vote when it was made from lanes, by its number when it was made as one.
void choose_mask_tests(ir::Function& f);
// Selects that keep the value of lanes which are off, where nobody looks at those lanes.
void drop_unseen_lanes(ir::Function& f);
// What nothing needs.
void remove_dead(ir::Function& f);
// Lanes of a wave that may communicate through memory or LDS: a fence between the accesses. Hardware needs none, as a
// wave's lanes run in step; a host's subgroup does not promise that.
void fence_accesses(ir::Function& f);

// fence: whether the host needs fence_accesses.
void run(ir::Function& f, bool fence);

}  // namespace orrery::shader::passes
