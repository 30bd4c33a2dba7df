// Conversions that more than one family needs.
#pragma once

#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {

// f32 or f64 to u32: toward zero, saturating, NaN becomes 0.
Value to_signed(Builder& b, Value v);
Value to_unsigned(Builder& b, Value v);
// f32 to f16, toward zero whatever MODE says.
Value to_half_toward_zero(Builder& b, Value v);

}  // namespace orrery::shader::semantics
