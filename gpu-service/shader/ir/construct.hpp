// A whole function, block by block.
#pragma once

#include <functional>

#include "gpu-service/shader/ir/builder.hpp"

namespace orrery::shader::ir {

// Writes every block's instructions through the builder (false: refused; goes on for further refusals, the function is
// of no use). Blocks may be written more than once, always from the first on: what a loop writes is first told from the
// instructions' operands, and where that was not all, construction begins again. function.graph must be set.
bool construct(Function& function, const Program& program, const TranslateOptions& options,
               const std::function<bool(Builder&, uint32_t block)>& write);

}  // namespace orrery::shader::ir
