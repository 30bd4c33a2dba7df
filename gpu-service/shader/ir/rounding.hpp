// Float arithmetic that rounds as MODE says. To nearest even it is the operation itself; the other modes are computed
// exactly (or rounded to odd in a wider type) and rounded here: no Vulkan device offers them.
#pragma once

#include "gpu-service/shader/ir/builder.hpp"

namespace orrery::shader::ir {

Value rounded_add(Builder& b, Value x, Value y);
Value rounded_sub(Builder& b, Value x, Value y);
Value rounded_mul(Builder& b, Value x, Value y);
Value rounded_fma(Builder& b, Value x, Value y, Value z);
// Between float types; the rounding is that of `to`.
Value rounded_convert(Builder& b, Value v, Type to);
Value rounded_convert(Builder& b, Value v, Type to, Round round);
// From a u32 taken as signed or unsigned.
Value rounded_from_integer(Builder& b, Value v, Type to, bool is_signed);
// To an integral number of the same type.
Value rounded_integral(Builder& b, Value v);

}  // namespace orrery::shader::ir
