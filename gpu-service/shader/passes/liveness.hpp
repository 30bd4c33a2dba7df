// Which values an effect or a branch needs, directly or not.
#pragma once

#include "gpu-service/shader/ir/function.hpp"

namespace orrery::shader::passes {

std::vector<uint8_t> live_values(const ir::Function& f);  // by value id

}  // namespace orrery::shader::passes
