// Fused multiply-add of doubles in integers, for the rounding modes that no device offers.
#pragma once

#include "gpu-service/shader/ir/builder.hpp"

namespace orrery::shader::ir {

// x * y + z, rounded once as `round` says.
Value double_fma(Builder& b, Value x, Value y, Value z, Round round);

}  // namespace orrery::shader::ir
