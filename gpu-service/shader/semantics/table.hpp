// What every instruction does, written against ir::Builder: one table over all opcodes.
#pragma once

#include "gpu-service/shader/ir/semantic.hpp"

namespace orrery::shader::semantics {

// A missing entry: the instruction is refused by name. Branches, s_endpgm and s_nop have none; the control-flow graph
// and the driver take them.
const ir::SemanticTable& semantic_table();

}  // namespace orrery::shader::semantics
