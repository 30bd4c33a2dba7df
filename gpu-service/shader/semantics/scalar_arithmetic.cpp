// Scalar add, subtract, multiply, minimum, maximum, absolute value, shift-and-add.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

void with_scc(Builder& b, const Instruction& i, Value v, Value scc) {
  scalar_result(b, i, v);
  b.set_scc(scc);
}

// Signed overflow of d = x + y: both have the sign that d has not.
Value add_overflows(Builder& b, Value x, Value y, Value d) { return negative(b, b.land(b.lxor(x, d), b.lxor(y, d))); }

Outcome add_unsigned(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0), d = b.add(x, scalar(b, i, 1));
  with_scc(b, i, d, b.compare(Op::ult, d, x));
  return {};
}

Outcome subtract_unsigned(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0), y = scalar(b, i, 1);
  with_scc(b, i, b.sub(x, y), b.compare(Op::ult, x, y));
  return {};
}

Outcome add_signed(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0), y = scalar(b, i, 1), d = b.add(x, y);
  with_scc(b, i, d, add_overflows(b, x, y, d));
  return {};
}

Outcome subtract_signed(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0), y = scalar(b, i, 1), d = b.sub(x, y);
  with_scc(b, i, d, negative(b, b.land(b.lxor(x, y), b.lxor(x, d))));
  return {};
}

Value carry_in(Builder& b) { return b.select(b.scc(), b.u32(1), b.u32(0)); }

Outcome add_with_carry(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0), sum = b.add(x, scalar(b, i, 1)), d = b.add(sum, carry_in(b));
  with_scc(b, i, d, b.lor(b.compare(Op::ult, sum, x), b.compare(Op::ult, d, sum)));
  return {};
}

Outcome subtract_with_borrow(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0), y = scalar(b, i, 1), difference = b.sub(x, y), c = carry_in(b);
  with_scc(b, i, b.sub(difference, c), b.lor(b.compare(Op::ult, x, y), b.compare(Op::ult, difference, c)));
  return {};
}

// SCC: source 0 was taken.
template <Op kLess, bool kMaximum>
Outcome extreme(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0), y = scalar(b, i, 1);
  const Value first = kMaximum ? b.compare(kLess, y, x) : b.compare(kLess, x, y);
  with_scc(b, i, b.select(first, x, y), first);
  return {};
}

template <Op kOp>
Outcome multiply(Builder& b, const Instruction& i) {
  scalar_result(b, i, b.op(kOp, scalar(b, i, 0), scalar(b, i, 1)));
  return {};
}

// SCC: the sum, not cut to 32 bits, does not fit.
template <uint32_t kShift>
Outcome shift_and_add(Builder& b, const Instruction& i) {
  const Value x = b.zext(Type::u64, scalar(b, i, 0)), y = b.zext(Type::u64, scalar(b, i, 1));
  const Value sum = b.add(b.shl(x, b.u64(kShift)), y);
  with_scc(b, i, b.low32(sum), non_zero(b, b.high32(sum)));
  return {};
}

Value absolute(Builder& b, Value v) { return b.op(Op::smax, v, b.sub(b.u32(0), v)); }

Outcome absolute_value(Builder& b, const Instruction& i) {
  const Value d = absolute(b, scalar(b, i, 0));
  with_scc(b, i, d, non_zero(b, d));
  return {};
}

Outcome absolute_difference(Builder& b, const Instruction& i) {
  const Value d = absolute(b, b.sub(scalar(b, i, 0), scalar(b, i, 1)));
  with_scc(b, i, d, non_zero(b, d));
  return {};
}

Outcome add_immediate(Builder& b, const Instruction& i) {
  const Value x = b.sgpr(i.destination.index), y = b.u32(static_cast<uint32_t>(i.immediate)), d = b.add(x, y);
  with_scc(b, i, d, add_overflows(b, x, y, d));
  return {};
}

Outcome multiply_immediate(Builder& b, const Instruction& i) {
  scalar_result(b, i, b.op(Op::imul, b.sgpr(i.destination.index), b.u32(static_cast<uint32_t>(i.immediate))));
  return {};
}

}  // namespace

void add_scalar_arithmetic(SemanticTable& t) {
  set(t, Opcode::s_add_u32, add_unsigned);
  set(t, Opcode::s_sub_u32, subtract_unsigned);
  set(t, Opcode::s_add_i32, add_signed);
  set(t, Opcode::s_sub_i32, subtract_signed);
  set(t, Opcode::s_addc_u32, add_with_carry);
  set(t, Opcode::s_subb_u32, subtract_with_borrow);
  set(t, Opcode::s_min_i32, extreme<Op::slt, false>);
  set(t, Opcode::s_min_u32, extreme<Op::ult, false>);
  set(t, Opcode::s_max_i32, extreme<Op::slt, true>);
  set(t, Opcode::s_max_u32, extreme<Op::ult, true>);
  set(t, Opcode::s_mul_i32, multiply<Op::imul>);
  set(t, Opcode::s_mul_hi_u32, multiply<Op::umul_high>);
  set(t, Opcode::s_mul_hi_i32, multiply<Op::smul_high>);
  set(t, Opcode::s_lshl1_add_u32, shift_and_add<1>);
  set(t, Opcode::s_lshl2_add_u32, shift_and_add<2>);
  set(t, Opcode::s_lshl3_add_u32, shift_and_add<3>);
  set(t, Opcode::s_lshl4_add_u32, shift_and_add<4>);
  set(t, Opcode::s_abs_i32, absolute_value);
  set(t, Opcode::s_absdiff_i32, absolute_difference);
  set(t, Opcode::s_addk_i32, add_immediate);
  set(t, Opcode::s_mulk_i32, multiply_immediate);
}

}  // namespace orrery::shader::semantics
