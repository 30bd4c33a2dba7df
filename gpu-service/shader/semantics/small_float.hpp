// f32 to and from narrower floats by integer arithmetic, so that every device gives the same bits, NaNs and denormals
// included.
#pragma once

#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {

// The f32 (as u32 bits) that the low 16 bits of `half` are.
Value half_to_float_bits(Builder& b, Value half);
// The half (u32, high bits 0) nearest to f32 bits, to even; too large becomes infinity.
Value float_bits_to_half(Builder& b, Value bits);
// An unsigned float of 5 bits of exponent and `mantissa` bits: toward zero, negative becomes 0, NaN all ones.
Value float_bits_to_small(Builder& b, Value bits, Value mantissa);

}  // namespace orrery::shader::semantics
