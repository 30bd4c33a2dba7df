// Scalar compares into SCC.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/mask_operand.hpp"

namespace orrery::shader::semantics {
namespace {

template <Op kOp, bool kSwapped = false>
Outcome compare(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0), y = scalar(b, i, 1);
  b.set_scc(kSwapped ? b.compare(kOp, y, x) : b.compare(kOp, x, y));
  return {};
}

template <Op kOp, bool kSwapped = false>
Outcome compare_immediate(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0), y = b.u32(static_cast<uint32_t>(i.immediate));
  b.set_scc(kSwapped ? b.compare(kOp, y, x) : b.compare(kOp, x, y));
  return {};
}

bool is_zero(const Operand& operand) {
  return operand.kind == OperandKind::constant && !operand.inline_float && operand.value == 0;
}

// Against 0 the other side may be a lane mask.
template <bool kEqual>
Outcome compare_equal_64(Builder& b, const Instruction& i) {
  for (uint32_t n = 0; n < 2; ++n) {
    if (!is_zero(i.sources[1 - n])) continue;
    const Value any = any_set(b, mask_operand(b, i.sources[n], 2));
    b.set_scc(kEqual ? b.lnot(any) : any);
    return {};
  }
  b.set_scc(b.compare(kEqual ? Op::ieq : Op::ine, scalar(b, i, 0, Type::u64), scalar(b, i, 1, Type::u64)));
  return {};
}
template <bool kEqual>
Outcome compare_equal_32(Builder& b, const Instruction& i) {
  for (uint32_t n = 0; n < 2; ++n) {
    if (!is_zero(i.sources[1 - n]) || i.sources[n].kind != OperandKind::sgpr) continue;
    const Value any = any_set(b, mask_operand(b, i.sources[n], 1));
    b.set_scc(kEqual ? b.lnot(any) : any);
    return {};
  }
  b.set_scc(b.compare(kEqual ? Op::ieq : Op::ine, scalar(b, i, 0), scalar(b, i, 1)));
  return {};
}

template <bool kOne, Type kType>
Outcome compare_bit(Builder& b, const Instruction& i) {
  Value count = scalar(b, i, 1);
  if (kType == Type::u64) count = b.zext(Type::u64, count);
  const Value bit = b.land(b.lshr(scalar(b, i, 0, kType), count), b.constant(kType, 1));
  b.set_scc(b.compare(kOne ? Op::ine : Op::ieq, bit, b.constant(kType, 0)));
  return {};
}

}  // namespace

void add_scalar_compare(SemanticTable& t) {
  set(t, Opcode::s_cmp_eq_i32, compare_equal_32<true>);
  set(t, Opcode::s_cmp_lg_i32, compare_equal_32<false>);
  set(t, Opcode::s_cmp_gt_i32, compare<Op::slt, true>);
  set(t, Opcode::s_cmp_ge_i32, compare<Op::sle, true>);
  set(t, Opcode::s_cmp_lt_i32, compare<Op::slt>);
  set(t, Opcode::s_cmp_le_i32, compare<Op::sle>);
  set(t, Opcode::s_cmp_eq_u32, compare_equal_32<true>);
  set(t, Opcode::s_cmp_lg_u32, compare_equal_32<false>);
  set(t, Opcode::s_cmp_gt_u32, compare<Op::ult, true>);
  set(t, Opcode::s_cmp_ge_u32, compare<Op::ule, true>);
  set(t, Opcode::s_cmp_lt_u32, compare<Op::ult>);
  set(t, Opcode::s_cmp_le_u32, compare<Op::ule>);
  set(t, Opcode::s_cmp_eq_u64, compare_equal_64<true>);
  set(t, Opcode::s_cmp_lg_u64, compare_equal_64<false>);
  set(t, Opcode::s_cmpk_eq_i32, compare_immediate<Op::ieq>);
  set(t, Opcode::s_cmpk_lg_i32, compare_immediate<Op::ine>);
  set(t, Opcode::s_cmpk_gt_i32, compare_immediate<Op::slt, true>);
  set(t, Opcode::s_cmpk_ge_i32, compare_immediate<Op::sle, true>);
  set(t, Opcode::s_cmpk_lt_i32, compare_immediate<Op::slt>);
  set(t, Opcode::s_cmpk_le_i32, compare_immediate<Op::sle>);
  set(t, Opcode::s_cmpk_eq_u32, compare_immediate<Op::ieq>);
  set(t, Opcode::s_cmpk_lg_u32, compare_immediate<Op::ine>);
  set(t, Opcode::s_cmpk_gt_u32, compare_immediate<Op::ult, true>);
  set(t, Opcode::s_cmpk_ge_u32, compare_immediate<Op::ule, true>);
  set(t, Opcode::s_cmpk_lt_u32, compare_immediate<Op::ult>);
  set(t, Opcode::s_cmpk_le_u32, compare_immediate<Op::ule>);
  set(t, Opcode::s_bitcmp0_b32, compare_bit<false, Type::u32>);
  set(t, Opcode::s_bitcmp0_b64, compare_bit<false, Type::u64>);
  set(t, Opcode::s_bitcmp1_b32, compare_bit<true, Type::u32>);
  set(t, Opcode::s_bitcmp1_b64, compare_bit<true, Type::u64>);
}

}  // namespace orrery::shader::semantics
