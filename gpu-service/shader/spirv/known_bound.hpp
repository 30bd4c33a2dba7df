// The largest number that a u32 can be, as far as a few operations back show it; ~0: any.
#pragma once

#include "gpu-service/shader/ir/function.hpp"
#include "gpu-service/shader/translate.hpp"

namespace orrery::shader::spirv {

uint32_t known_bound(const ir::Function& f, const TranslateOptions& options, ir::Value v);

}  // namespace orrery::shader::spirv
