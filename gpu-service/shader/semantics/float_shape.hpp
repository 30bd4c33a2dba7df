// Operations on the bit layout of the float types.
#pragma once

#include "gpu-service/shader/ir/float_shape.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {

using ir::FloatShape;
using ir::shape_of;

inline Value power_of_two(Builder& b, Type type, int32_t n) { return b.constant(type, shape_of(type).power_of_two(n)); }
inline Value is_nan(Builder& b, Value v) { return b.compare(Op::fune, v, v); }

// Bits without the sign, as an integer.
Value magnitude_bits(Builder& b, Value v);
// The biased exponent, u32.
Value biased_exponent(Builder& b, Value v);
Value is_signaling(Builder& b, Value v);
Value quieted(Builder& b, Value v);
// The lesser (greater) one; the number where the other is NaN; -0 is less than +0. In IEEE mode a signaling NaN gives
// its quiet form.
Value float_min(Builder& b, Value x, Value y);
Value float_max(Builder& b, Value x, Value y);
// v * 2^n with one rounding, MODE's, n any signed u32.
Value scale_by_power(Builder& b, Value v, Value n);

}  // namespace orrery::shader::semantics
