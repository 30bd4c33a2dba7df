// Float operations over constants, as operations.inc defines them: to nearest even, denormals kept.
#pragma once

#include <cstdint>

#include "gpu-service/shader/ir/value.hpp"

namespace orrery::shader::ir {

// `bits`: of up to two constants. False where the operation or its types are not folded, or its result is a NaN, whose
// bits are the device's. Why at all: drivers fold these too, and llvmpipe takes x * 0 for 0 and x + 0 for x; only a
// zero that is seen here is worked around (rounding.cpp).
bool fold_floats(Op op, Type type, Type operand, const uint64_t* bits, uint32_t imm, uint64_t& out);

}  // namespace orrery::shader::ir
