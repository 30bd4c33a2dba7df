// Packed 16-bit operations, mixed-precision fused multiply-add, dot products.
#include <array>

#include "gpu-service/shader/ir/rounding.hpp"
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/float_shape.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr Type kU32 = Type::u32, kF16 = Type::f16;

enum class Half : uint8_t { low, high };

// A source's dword as it is. Inline constants are 32 bits wide: integers sign-extended, floats in single precision,
// or, for instructions on f16, a half in the low bits.
Value whole(Builder& b, const Instruction& i, uint32_t n, Type type) {
  Operand plain = i.sources[n];
  plain.negate = plain.negate_high = plain.absolute = false;
  if (type == kF16 && plain.kind == OperandKind::constant && plain.inline_float) {
    return b.zext(kU32, b.as(Type::u16, read(b, plain, kF16)));
  }
  return read(b, plain, kU32);
}

Value half_of(Builder& b, Value word, bool high) {
  return b.truncate(Type::u16, high ? b.lshr(word, b.u32(16)) : word);
}

// The half that op_sel (for the low result) or op_sel_hi (for the high one) names.
Value chosen(Builder& b, const Instruction& i, uint32_t n, Half half, Type type) {
  const uint8_t select = half == Half::low ? i.op_select : i.op_select_high;
  return half_of(b, whole(b, i, n, type), (select >> n & 1) != 0);
}

Value float_half(Builder& b, const Instruction& i, uint32_t n, Half half) {
  const Value v = b.as(kF16, chosen(b, i, n, half, kF16));
  const Operand& from = i.sources[n];
  return ir::input(b, (half == Half::low ? from.negate : from.negate_high) ? b.op(Op::fneg, v) : v);
}

void packed_result(Builder& b, const Instruction& i, Value low, Value high) {
  b.set_vgpr(i.destination.index, b.lor(b.zext(kU32, low), b.shl(b.zext(kU32, high), b.u32(16))));
}

template <class Make>
Outcome floats(Builder& b, const Instruction& i, Make make) {
  auto half = [&](Half h) { return b.as(Type::u16, ir::output(b, i, make(h))); };
  const Value low = half(Half::low), high = half(Half::high);
  packed_result(b, i, low, high);
  return {};
}

template <Value (*kMake)(Builder&, Value, Value)>
Outcome float_two(Builder& b, const Instruction& i) {
  return floats(b, i, [&](Half h) { return kMake(b, float_half(b, i, 0, h), float_half(b, i, 1, h)); });
}

Outcome float_fused(Builder& b, const Instruction& i) {
  return floats(b, i, [&](Half h) {
    return ir::rounded_fma(b, float_half(b, i, 0, h), float_half(b, i, 1, h), float_half(b, i, 2, h));
  });
}

// VOP2: no modifiers; the destination is the addend.
Outcome float_accumulate(Builder& b, const Instruction& i) {
  const Value x = whole(b, i, 0, kF16), y = whole(b, i, 1, kF16), z = b.vgpr(i.destination.index);
  auto half = [&](bool high) {
    auto part = [&](Value word) { return ir::input(b, b.as(kF16, half_of(b, word, high))); };
    return b.as(Type::u16, ir::output(b, i, ir::rounded_fma(b, part(x), part(y), part(z))));
  };
  const Value low = half(false), high = half(true);
  packed_result(b, i, low, high);
  return {};
}

// Integers are computed in 32 bits.
template <bool kSigned>
Value wide_half(Builder& b, const Instruction& i, uint32_t n, Half half) {
  const Value v = chosen(b, i, n, half, Type::u16);
  return kSigned ? b.sext(kU32, v) : b.zext(kU32, v);
}

template <Clamp16 kClamp, class Make>
Outcome integers(Builder& b, const Instruction& i, Make make) {
  auto half = [&](Half h) {
    const Value v = make(h);
    return b.truncate(Type::u16, i.clamp ? saturated_to_16(b, v, kClamp) : v);
  };
  const Value low = half(Half::low), high = half(Half::high);
  packed_result(b, i, low, high);
  return {};
}

template <Op kOp, bool kSigned>
Outcome integer_two(Builder& b, const Instruction& i) {
  constexpr Clamp16 kClamp = kSigned           ? Clamp16::of_signed
                             : kOp == Op::isub ? Clamp16::of_difference
                                               : Clamp16::of_unsigned;
  return integers<kClamp>(
      b, i, [&](Half h) { return b.op(kOp, wide_half<kSigned>(b, i, 0, h), wide_half<kSigned>(b, i, 1, h)); });
}

// Bits that a shift pushes out are no overflow.
template <Op kOp, bool kSigned>
Outcome integer_shift(Builder& b, const Instruction& i) {
  return integers<Clamp16::none>(b, i, [&](Half h) {
    const Value count = b.land(wide_half<false>(b, i, 0, h), b.u32(15));
    return b.op(kOp, wide_half<kSigned>(b, i, 1, h), count);
  });
}

template <bool kSigned>
Outcome integer_multiply_add(Builder& b, const Instruction& i) {
  return integers<kSigned ? Clamp16::of_signed : Clamp16::of_unsigned>(b, i, [&](Half h) {
    const Value product = b.op(Op::imul, wide_half<kSigned>(b, i, 0, h), wide_half<kSigned>(b, i, 1, h));
    return b.add(product, wide_half<kSigned>(b, i, 2, h));
  });
}

// Mixed precision: op_sel_hi says that a source is an f16, op_sel which half. neg_hi stands for the absolute value.
Value mixed(Builder& b, const Instruction& i, uint32_t n) {
  Value v;
  if ((i.op_select_high >> n & 1) != 0) {
    const Value half = half_of(b, whole(b, i, n, kF16), (i.op_select >> n & 1) != 0);
    v = b.op(Op::f_to_f, Type::f32, {ir::input(b, b.as(kF16, half))});
  } else {
    Operand plain = i.sources[n];
    plain.negate = plain.negate_high = plain.absolute = false;
    v = ir::input(b, read(b, plain, Type::f32));
  }
  if (i.sources[n].negate_high || i.sources[n].absolute) v = b.op(Op::fabs, v);
  return i.sources[n].negate ? b.op(Op::fneg, v) : v;
}

Value mixed_fused(Builder& b, const Instruction& i) {
  const Value x = mixed(b, i, 0), y = mixed(b, i, 1), z = mixed(b, i, 2);
  return ir::rounded_fma(b, x, y, z);
}

Outcome mix(Builder& b, const Instruction& i) {
  b.set_vgpr(i.destination.index, ir::output(b, i, mixed_fused(b, i)));
  return {};
}

template <Half kHalf>
Outcome mix_half(Builder& b, const Instruction& i) {
  const Value narrow = ir::output(b, i, ir::rounded_convert(b, mixed_fused(b, i), kF16));
  const Value half = b.zext(kU32, b.as(Type::u16, narrow));
  const Value old = b.vgpr(i.destination.index);
  const Value d = kHalf == Half::low ? b.lor(b.land(old, b.u32(0xffff0000)), half)
                                     : b.lor(b.land(old, b.u32(0xffff)), b.shl(half, b.u32(16)));
  b.set_vgpr(i.destination.index, d);
  return {};
}

// Sum of products of parts of kBits, plus source 2 (or the destination).
template <uint32_t kBits, bool kSigned, bool kAccumulate = false>
Outcome dot(Builder& b, const Instruction& i) {
  const Value x = kAccumulate ? source(b, i, 0, kU32) : whole(b, i, 0, kU32);
  const Value y = kAccumulate ? source(b, i, 1, kU32) : whole(b, i, 1, kU32);
  const Value addend = kAccumulate ? b.vgpr(i.destination.index) : whole(b, i, 2, kU32);
  auto wide = [&](Value v) { return kSigned ? b.sext(Type::u64, v) : b.zext(Type::u64, v); };
  // The exact sum does not fit into 32 bits; only clamp looks at it.
  Value sum = i.clamp ? wide(addend) : addend;
  constexpr Op kField = kSigned ? Op::bitfield_s : Op::bitfield_u;
  for (uint32_t at = 0; at < 32; at += kBits) {
    const Value u = b.op(kField, x, b.u32(at), b.u32(kBits)), v = b.op(kField, y, b.u32(at), b.u32(kBits));
    const Value product = b.op(Op::imul, u, v);  // fits
    sum = b.add(sum, i.clamp ? wide(product) : product);
  }
  result(b, i, i.clamp ? b.low32(saturated_to_32(b, sum, kSigned)) : sum);
  return {};
}

// Two products of halves, exact in f32, added to the addend one after the other.
Value dot_halves(Builder& b, Value addend, const std::array<Value, 4>& halves) {
  auto wide = [&](Value v) { return b.op(Op::f_to_f, Type::f32, {v}); };
  const Value low = ir::rounded_mul(b, wide(halves[0]), wide(halves[1]));
  const Value high = ir::rounded_mul(b, wide(halves[2]), wide(halves[3]));
  return ir::rounded_add(b, ir::rounded_add(b, addend, low), high);
}

Outcome dot_float(Builder& b, const Instruction& i) {
  if (i.sources[2].negate_high) return refuse("neg_hi of an addend of 32 bits");
  Operand addend = i.sources[2];
  addend.absolute = false;
  const Value z = ir::input(b, read(b, addend, Type::f32));
  const std::array<Value, 4> halves{float_half(b, i, 0, Half::low), float_half(b, i, 1, Half::low),
                                    float_half(b, i, 0, Half::high), float_half(b, i, 1, Half::high)};
  b.set_vgpr(i.destination.index, ir::output(b, i, dot_halves(b, z, halves)));
  return {};
}

// VOP2, with DPP: the destination is the addend.
Outcome dot_float_accumulate(Builder& b, const Instruction& i) {
  if (i.sources[0].absolute || i.sources[0].negate || i.sources[1].absolute || i.sources[1].negate) {
    return refuse("modifiers of packed halves");
  }
  const Value x = i.sources[0].kind == OperandKind::constant ? whole(b, i, 0, kF16) : source(b, i, 0, kU32);
  const Value y = source(b, i, 1, kU32);
  auto half = [&](Value word, bool high) { return ir::input(b, b.as(kF16, half_of(b, word, high))); };
  const std::array<Value, 4> halves{half(x, false), half(y, false), half(x, true), half(y, true)};
  result(b, i, dot_halves(b, accumulator(b, i, Type::f32), halves));
  return {};
}

}  // namespace

void add_packed(SemanticTable& t) {
  set(t, Opcode::v_pk_add_f16, float_two<ir::rounded_add>);
  set(t, Opcode::v_pk_mul_f16, float_two<ir::rounded_mul>);
  set(t, Opcode::v_pk_min_f16, float_two<float_min>);
  set(t, Opcode::v_pk_max_f16, float_two<float_max>);
  set(t, Opcode::v_pk_fma_f16, float_fused);
  set(t, Opcode::v_pk_fmac_f16, float_accumulate);
  set(t, Opcode::v_pk_add_u16, integer_two<Op::iadd, false>);
  set(t, Opcode::v_pk_add_i16, integer_two<Op::iadd, true>);
  set(t, Opcode::v_pk_sub_u16, integer_two<Op::isub, false>);
  set(t, Opcode::v_pk_sub_i16, integer_two<Op::isub, true>);
  set(t, Opcode::v_pk_mul_lo_u16, integer_two<Op::imul, false>);
  set(t, Opcode::v_pk_min_u16, integer_two<Op::umin, false>);
  set(t, Opcode::v_pk_max_u16, integer_two<Op::umax, false>);
  set(t, Opcode::v_pk_min_i16, integer_two<Op::smin, true>);
  set(t, Opcode::v_pk_max_i16, integer_two<Op::smax, true>);
  set(t, Opcode::v_pk_lshlrev_b16, integer_shift<Op::shl, false>);
  set(t, Opcode::v_pk_lshrrev_b16, integer_shift<Op::lshr, false>);
  set(t, Opcode::v_pk_ashrrev_i16, integer_shift<Op::ashr, true>);
  set(t, Opcode::v_pk_mad_u16, integer_multiply_add<false>);
  set(t, Opcode::v_pk_mad_i16, integer_multiply_add<true>);
  set(t, Opcode::v_fma_mix_f32, mix);
  set(t, Opcode::v_fma_mixlo_f16, mix_half<Half::low>);
  set(t, Opcode::v_fma_mixhi_f16, mix_half<Half::high>);
  set(t, Opcode::v_dot2_i32_i16, dot<16, true>);
  set(t, Opcode::v_dot2_u32_u16, dot<16, false>);
  set(t, Opcode::v_dot2_f32_f16, dot_float);
  set(t, Opcode::v_dot2c_f32_f16, dot_float_accumulate);
  set(t, Opcode::v_dot4_i32_i8, dot<8, true>);
  set(t, Opcode::v_dot4_u32_u8, dot<8, false>);
  set(t, Opcode::v_dot4c_i32_i8, dot<8, true, true>);
  set(t, Opcode::v_dot8_i32_i4, dot<4, true>);
  set(t, Opcode::v_dot8_u32_u4, dot<4, false>);
}

}  // namespace orrery::shader::semantics
