// Integer multiplication per lane, 24, 32 and 64 bits, with and without addition.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr Type kU32 = Type::u32;

Value low_24(Builder& b, Value v, bool is_signed) {
  if (!is_signed) return b.land(v, b.u32(0xffffff));
  return b.op(Op::bitfield_s, v, b.u32(0), b.u32(24));
}

template <bool kSigned>
Outcome multiply_24(Builder& b, const Instruction& i) {
  const Value x = low_24(b, source(b, i, 0, kU32), kSigned), y = low_24(b, source(b, i, 1, kU32), kSigned);
  result(b, i, b.op(Op::imul, x, y));
  return {};
}

// Bits 47:32 of the product (sign-extended).
template <bool kSigned>
Outcome multiply_high_24(Builder& b, const Instruction& i) {
  const Value x = low_24(b, source(b, i, 0, kU32), kSigned), y = low_24(b, source(b, i, 1, kU32), kSigned);
  result(b, i, b.op(kSigned ? Op::smul_high : Op::umul_high, x, y));
  return {};
}

template <bool kSigned>
Outcome multiply_add_24(Builder& b, const Instruction& i) {
  const Value x = low_24(b, source(b, i, 0, kU32), kSigned), y = low_24(b, source(b, i, 1, kU32), kSigned);
  result(b, i, b.add(b.op(Op::imul, x, y), source(b, i, 2, kU32)));
  return {};
}

Outcome multiply_add_wide_unsigned(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kU32), y = source(b, i, 1, kU32), addend = source(b, i, 2, Type::u64);
  const Value product = b.pack64(b.op(Op::imul, x, y), b.op(Op::umul_high, x, y));
  const Value sum = b.add(product, addend);
  result(b, i, sum);
  mask_result(b, i.destination2, b.compare(Op::ult, sum, product));
  return {};
}

// The mask gets bit 64 of the sum of the sign-extended operands.
Outcome multiply_add_wide_signed(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kU32), y = source(b, i, 1, kU32), addend = source(b, i, 2, Type::u64);
  const Value product = b.pack64(b.op(Op::imul, x, y), b.op(Op::smul_high, x, y));
  const Value sum = b.add(product, addend), carry = b.compare(Op::ult, sum, product);
  result(b, i, sum);
  mask_result(b, i.destination2, b.lxor(carry, b.lxor(negative(b, product), negative(b, addend))));
  return {};
}

}  // namespace

void add_vector_multiply(SemanticTable& t) {
  set(t, Opcode::v_mul_lo_u32, without_clamp<binary<Op::imul, kU32>>);
  set(t, Opcode::v_mul_lo_i32, without_clamp<binary<Op::imul, kU32>>);
  set(t, Opcode::v_mul_hi_u32, without_clamp<binary<Op::umul_high, kU32>>);
  set(t, Opcode::v_mul_hi_i32, without_clamp<binary<Op::smul_high, kU32>>);
  set(t, Opcode::v_mul_u32_u24, without_clamp<multiply_24<false>>);
  set(t, Opcode::v_mul_i32_i24, without_clamp<multiply_24<true>>);
  set(t, Opcode::v_mul_hi_u32_u24, without_clamp<multiply_high_24<false>>);
  set(t, Opcode::v_mul_hi_i32_i24, without_clamp<multiply_high_24<true>>);
  set(t, Opcode::v_mad_u32_u24, without_clamp<multiply_add_24<false>>);
  set(t, Opcode::v_mad_i32_i24, without_clamp<multiply_add_24<true>>);
  set(t, Opcode::v_mad_u64_u32, without_clamp<multiply_add_wide_unsigned>);
  set(t, Opcode::v_mad_i64_i32, without_clamp<multiply_add_wide_signed>);
}

}  // namespace orrery::shader::semantics
