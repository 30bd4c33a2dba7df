// 16-bit integers per lane. Computed in 32 bits: every host has those, and the low half of the result is the same.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

enum class Extend : uint8_t { zero, sign };

template <Extend kExtend>
Value wide(Builder& b, const Instruction& i, uint32_t n) {
  const Value v = source(b, i, n, Type::u16);
  return kExtend == Extend::sign ? b.sext(Type::u32, v) : b.zext(Type::u32, v);
}

// Saturation knows the exact result.
template <Extend kExtend, bool kDifference = false>
void short_result(Builder& b, const Instruction& i, Value v) {
  constexpr Clamp16 kClamp = kExtend == Extend::sign ? Clamp16::of_signed
                             : kDifference           ? Clamp16::of_difference
                                                     : Clamp16::of_unsigned;
  result(b, i, b.truncate(Type::u16, i.clamp ? saturated_to_16(b, v, kClamp) : v));
}

template <Op kOp, Extend kExtend>
Outcome two(Builder& b, const Instruction& i) {
  short_result<kExtend, kOp == Op::isub>(b, i, b.op(kOp, wide<kExtend>(b, i, 0), wide<kExtend>(b, i, 1)));
  return {};
}

template <Op kOp, Extend kExtend>
Outcome three(Builder& b, const Instruction& i) {
  const Value two = b.op(kOp, wide<kExtend>(b, i, 0), wide<kExtend>(b, i, 1));
  short_result<kExtend>(b, i, b.op(kOp, two, wide<kExtend>(b, i, 2)));
  return {};
}

template <Op kMin, Op kMax, Extend kExtend>
Outcome median(Builder& b, const Instruction& i) {
  const Value x = wide<kExtend>(b, i, 0), y = wide<kExtend>(b, i, 1), z = wide<kExtend>(b, i, 2);
  short_result<kExtend>(b, i, b.op(kMax, b.op(kMin, x, y), b.op(kMin, b.op(kMax, x, y), z)));
  return {};
}

template <Op kOp, Extend kExtend>
Outcome shift(Builder& b, const Instruction& i) {
  const Value count = b.land(wide<Extend::zero>(b, i, 0), b.u32(15));
  short_result<kExtend>(b, i, b.op(kOp, wide<kExtend>(b, i, 1), count));
  return {};
}

template <Extend kExtend>
Outcome multiply_add(Builder& b, const Instruction& i) {
  const Value product = b.op(Op::imul, wide<kExtend>(b, i, 0), wide<kExtend>(b, i, 1));
  short_result<kExtend>(b, i, b.add(product, wide<kExtend>(b, i, 2)));
  return {};
}

template <Extend kExtend>
Outcome multiply_add_32(Builder& b, const Instruction& i) {
  const Value product = b.op(Op::imul, wide<kExtend>(b, i, 0), wide<kExtend>(b, i, 1));
  const Value addend = source(b, i, 2, Type::u32);
  result(b, i,
         kExtend == Extend::sign ? saturating_add_signed(b, product, addend, i.clamp)
                                 : saturating_add(b, product, addend, i.clamp));
  return {};
}

// Two 16-bit sources side by side.
Outcome pack(Builder& b, const Instruction& i) {
  const Value low = b.as(Type::u16, source(b, i, 0, Type::f16)), high = b.as(Type::u16, source(b, i, 1, Type::f16));
  result(b, i, b.lor(b.zext(Type::u32, low), b.shl(b.zext(Type::u32, high), b.u32(16))));
  return {};
}

}  // namespace

void add_vector_short(SemanticTable& t) {
  constexpr Extend kZero = Extend::zero, kSign = Extend::sign;
  set(t, Opcode::v_add_nc_u16, two<Op::iadd, kZero>);
  set(t, Opcode::v_add_nc_i16, two<Op::iadd, kSign>);
  set(t, Opcode::v_sub_nc_u16, two<Op::isub, kZero>);
  set(t, Opcode::v_sub_nc_i16, two<Op::isub, kSign>);
  set(t, Opcode::v_mul_lo_u16, two<Op::imul, kZero>);
  set(t, Opcode::v_min_u16, two<Op::umin, kZero>);
  set(t, Opcode::v_max_u16, two<Op::umax, kZero>);
  set(t, Opcode::v_min_i16, two<Op::smin, kSign>);
  set(t, Opcode::v_max_i16, two<Op::smax, kSign>);
  set(t, Opcode::v_min3_u16, three<Op::umin, kZero>);
  set(t, Opcode::v_max3_u16, three<Op::umax, kZero>);
  set(t, Opcode::v_min3_i16, three<Op::smin, kSign>);
  set(t, Opcode::v_max3_i16, three<Op::smax, kSign>);
  set(t, Opcode::v_med3_u16, median<Op::umin, Op::umax, kZero>);
  set(t, Opcode::v_med3_i16, median<Op::smin, Op::smax, kSign>);
  set(t, Opcode::v_lshlrev_b16, shift<Op::shl, kZero>);
  set(t, Opcode::v_lshrrev_b16, shift<Op::lshr, kZero>);
  set(t, Opcode::v_ashrrev_i16, shift<Op::ashr, kSign>);
  set(t, Opcode::v_mad_u16, multiply_add<kZero>);
  set(t, Opcode::v_mad_i16, multiply_add<kSign>);
  set(t, Opcode::v_mad_u32_u16, multiply_add_32<kZero>);
  set(t, Opcode::v_mad_i32_i16, multiply_add_32<kSign>);
  set(t, Opcode::v_pack_b32_f16, pack);
}

}  // namespace orrery::shader::semantics
