// A scalar operand that may be a lane mask: its number and its boolean per lane, side by side.
#pragma once

#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {

struct MaskValue {
  Value number;
  Value boolean;  // none: the operand's width is not a lane mask's
};

// `dwords`: width of the operation.
MaskValue mask_operand(Builder& b, const Operand& operand, uint32_t dwords);

// Writes both forms where the register can hold a mask, else the number.
void set_mask_result(Builder& b, uint32_t index, uint32_t dwords, MaskValue v);

// The mask is not empty; which form is tested is left to the builder.
Value any_set(Builder& b, MaskValue v);

}  // namespace orrery::shader::semantics
