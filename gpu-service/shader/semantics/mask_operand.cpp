#include "gpu-service/shader/semantics/mask_operand.hpp"

namespace orrery::shader::semantics {

MaskValue mask_operand(Builder& b, const Operand& operand, uint32_t dwords) {
  MaskValue result{read(b, operand, dwords == 2 ? Type::u64 : Type::u32), {}};
  if (dwords != (b.wave64() ? 2u : 1u)) return result;
  uint64_t bits = 0;
  if (operand.kind == OperandKind::sgpr) {
    result.boolean = b.mask(operand.index);
  } else if (b.is_constant(result.number, bits) && bits == 0) {
    result.boolean = b.b1(false);
  } else if (b.is_constant(result.number, bits) && bits == (b.wave64() ? ~0ull : 0xffffffffull)) {
    result.boolean = b.b1(true);
  } else if (b.wave64()) {
    result.boolean = b.op(Op::lane_bit, Type::b1, {b.low32(result.number), b.high32(result.number)});
  } else {
    result.boolean = b.op(Op::lane_bit, Type::b1, {result.number});
  }
  return result;
}

void set_mask_result(Builder& b, uint32_t index, uint32_t dwords, MaskValue v) {
  if (v.boolean && b.mask_capable(index, dwords)) {
    b.set_mask(index, v.boolean, v.number);
  } else {
    b.set_sgpr(index, v.number);
  }
}

Value any_set(Builder& b, MaskValue v) {
  return v.boolean ? b.mask_nonzero(v.boolean, v.number) : non_zero(b, v.number);
}

}  // namespace orrery::shader::semantics
