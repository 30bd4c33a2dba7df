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

// The product as far as it shows in 32 bits; clamp: the nearest that does.
template <bool kSigned>
Outcome multiply_24(Builder& b, const Instruction& i) {
  const Value x = low_24(b, source(b, i, 0, kU32), kSigned), y = low_24(b, source(b, i, 1, kU32), kSigned);
  const Value low = b.op(Op::imul, x, y);
  if (!i.clamp) {
    result(b, i, low);
    return {};
  }
  const Value high = b.op(kSigned ? Op::smul_high : Op::umul_high, x, y);
  if (!kSigned) {
    result(b, i, all_ones_if(b, non_zero(b, high), low));
    return {};
  }
  const Value fits = b.compare(Op::ieq, high, b.ashr(low, b.u32(31)));
  result(b, i, b.select(fits, low, signed_edge(b, high)));
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
  const Value addend = source(b, i, 2, kU32), low = b.op(Op::imul, x, y);
  if (!i.clamp) {
    result(b, i, b.add(low, addend));
    return {};
  }
  // 48 bits and 32: no overflow in 64.
  const Value product = b.pack64(low, b.op(kSigned ? Op::smul_high : Op::umul_high, x, y));
  const Value sum = b.add(product, kSigned ? b.sext(Type::u64, addend) : b.zext(Type::u64, addend));
  result(b, i, b.low32(saturated_to_32(b, sum, kSigned)));
  return {};
}

Outcome multiply_add_wide_unsigned(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kU32), y = source(b, i, 1, kU32), addend = source(b, i, 2, Type::u64);
  const Value product = b.pack64(b.op(Op::imul, x, y), b.op(Op::umul_high, x, y));
  const Value sum = b.add(product, addend), carry = b.compare(Op::ult, sum, product);
  result(b, i, i.clamp ? all_ones_if(b, carry, sum) : sum);
  mask_result(b, i.destination2, carry);
  return {};
}

// The mask gets bit 64 of the sum of the sign-extended operands.
Outcome multiply_add_wide_signed(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kU32), y = source(b, i, 1, kU32), addend = source(b, i, 2, Type::u64);
  const Value product = b.pack64(b.op(Op::imul, x, y), b.op(Op::smul_high, x, y));
  const Value sum = b.add(product, addend), carry = b.compare(Op::ult, sum, product);
  result(b, i, saturating_add_signed(b, product, addend, i.clamp));
  mask_result(b, i.destination2, b.lxor(carry, b.lxor(negative(b, product), negative(b, addend))));
  return {};
}

}  // namespace

void add_vector_multiply(SemanticTable& t) {
  set(t, Opcode::v_mul_lo_u32, binary<Op::imul, kU32>);
  set(t, Opcode::v_mul_lo_i32, binary<Op::imul, kU32>);
  set(t, Opcode::v_mul_hi_u32, binary<Op::umul_high, kU32>);
  set(t, Opcode::v_mul_hi_i32, binary<Op::smul_high, kU32>);
  set(t, Opcode::v_mul_u32_u24, multiply_24<false>);
  set(t, Opcode::v_mul_i32_i24, multiply_24<true>);
  set(t, Opcode::v_mul_hi_u32_u24, multiply_high_24<false>);
  set(t, Opcode::v_mul_hi_i32_i24, multiply_high_24<true>);
  set(t, Opcode::v_mad_u32_u24, multiply_add_24<false>);
  set(t, Opcode::v_mad_i32_i24, multiply_add_24<true>);
  set(t, Opcode::v_mad_u64_u32, multiply_add_wide_unsigned);
  set(t, Opcode::v_mad_i64_i32, multiply_add_wide_signed);
}

}  // namespace orrery::shader::semantics
