// buffer_load/store_format_* and tbuffer_*.
#pragma once

#include "gpu-service/shader/ir/semantic.hpp"

namespace orrery::shader::semantics {

ir::Outcome typed_buffer(ir::Builder& b, const Instruction& i);

}  // namespace orrery::shader::semantics
