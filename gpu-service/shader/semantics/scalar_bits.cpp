// Scalar shifts, bit fields, counts and searches.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

// An operand of one dword as the count of a shift of `type` (which takes it modulo the width).
Value count_of(Builder& b, Type type, Value v) { return type == Type::u64 ? b.zext(Type::u64, v) : v; }

// SCC: the result is not zero.
void with_non_zero(Builder& b, const Instruction& i, Value d) {
  scalar_result(b, i, d);
  b.set_scc(non_zero(b, d));
}

template <Op kOp, Type kType>
Outcome shift(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0, kType, kOp == Op::ashr);
  with_non_zero(b, i, b.op(kOp, x, count_of(b, kType, scalar(b, i, 1))));
  return {};
}

// Offset in bits 4:0 (5:0), width in 22:16 of source 1. Bits behind the top are zeros, or the sign.
template <Op kShift, Type kType>
Outcome extract_field(Builder& b, const Instruction& i) {
  constexpr uint32_t kBits = bits_of(kType);
  const Value x = scalar(b, i, 0, kType, kShift == Op::ashr), control = scalar(b, i, 1);
  const Value width = b.land(b.lshr(control, b.u32(16)), b.u32(127));
  const Value field = b.op(kShift, x, count_of(b, kType, control));
  // 0 < width < kBits from here on; the selects take the rest.
  const Value unused = count_of(b, kType, b.sub(b.u32(kBits), width));
  const Value cut = b.op(kShift, b.shl(field, unused), unused);
  const Value whole = b.compare(Op::ule, b.u32(kBits), width);
  const Value none = b.compare(Op::ieq, width, b.u32(0));
  with_non_zero(b, i, b.select(none, b.constant(kType, 0), b.select(whole, field, cut)));
  return {};
}

template <Type kType>
Outcome field_mask(Builder& b, const Instruction& i) {
  const Value one = b.constant(kType, 1);
  const Value ones = b.sub(b.shl(one, count_of(b, kType, scalar(b, i, 0))), one);
  scalar_result(b, i, b.shl(ones, count_of(b, kType, scalar(b, i, 1))));
  return {};
}

template <bool kOnes, Type kType>
Outcome count_bits(Builder& b, const Instruction& i) {
  Value x = scalar(b, i, 0, kType);
  if (!kOnes) x = b.lnot(x);
  const Value d = kType == Type::u64 ? b.add(b.op(Op::bit_count, b.low32(x)), b.op(Op::bit_count, b.high32(x)))
                                     : b.op(Op::bit_count, x);
  with_non_zero(b, i, d);
  return {};
}

// Index of the lowest set bit, -1 when there is none.
Value lowest(Builder& b, Value x) {
  if (b.type(x) == Type::u32) return b.op(Op::find_lsb, x);
  const Value low = b.low32(x), above = b.op(Op::find_lsb, b.high32(x));
  const Value high = all_ones_if(b, b.compare(Op::slt, above, b.u32(0)), b.add(above, b.u32(32)));
  return b.select(non_zero(b, low), b.op(Op::find_lsb, low), high);
}

// Zeros in front of the highest set bit, -1 when there is none.
Value leading_zeros(Builder& b, Value x) {
  auto zeros32 = [&](Value word) {
    return all_ones_if(b, b.compare(Op::ieq, word, b.u32(0)), b.sub(b.u32(31), b.op(Op::find_umsb, word)));
  };
  if (b.type(x) == Type::u32) return zeros32(x);
  const Value high = b.high32(x), low = zeros32(b.low32(x));
  return b.select(non_zero(b, high), zeros32(high), all_ones_if(b, negative(b, low), b.add(low, b.u32(32))));
}

template <bool kOnes, Type kType>
Outcome find_lowest(Builder& b, const Instruction& i) {
  Value x = scalar(b, i, 0, kType);
  if (!kOnes) x = b.lnot(x);
  scalar_result(b, i, lowest(b, x));
  return {};
}

template <Type kType>
Outcome find_highest(Builder& b, const Instruction& i) {
  scalar_result(b, i, leading_zeros(b, scalar(b, i, 0, kType)));
  return {};
}

// Bits in front that equal the sign, -1 when all do.
template <Type kType>
Outcome find_sign_end(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0, kType, true);
  const Value sign = b.ashr(x, b.constant(kType, bits_of(kType) - 1));
  scalar_result(b, i, leading_zeros(b, b.lxor(x, sign)));
  return {};
}

template <Type kType>
Outcome reverse_bits(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0, kType);
  scalar_result(b, i,
                kType == Type::u64 ? b.pack64(b.op(Op::bit_reverse, b.high32(x)), b.op(Op::bit_reverse, b.low32(x)))
                                   : b.op(Op::bit_reverse, x));
  return {};
}

template <uint32_t kBits>
Outcome extend_sign(Builder& b, const Instruction& i) {
  const Value unused = b.u32(32 - kBits);
  scalar_result(b, i, b.ashr(b.shl(scalar(b, i, 0), unused), unused));
  return {};
}

template <bool kOne, Type kType>
Outcome set_bit(Builder& b, const Instruction& i) {
  const Value old = b.sgpr(i.destination.index, kType);
  const Value bit = b.shl(b.constant(kType, 1), count_of(b, kType, scalar(b, i, 0)));
  scalar_result(b, i, kOne ? b.lor(old, bit) : b.land(old, b.lnot(bit)));
  return {};
}

// Every bit twice.
Outcome replicate_bits(Builder& b, const Instruction& i) {
  Value x = b.zext(Type::u64, scalar(b, i, 0));
  constexpr struct {
    uint32_t shift;
    uint64_t keep;
  } kSteps[] = {{16, 0x0000ffff0000ffff},
                {8, 0x00ff00ff00ff00ff},
                {4, 0x0f0f0f0f0f0f0f0f},
                {2, 0x3333333333333333},
                {1, 0x5555555555555555}};
  for (auto [shift, keep] : kSteps) x = b.land(b.lor(x, b.shl(x, b.u64(shift))), b.u64(keep));
  scalar_result(b, i, b.lor(x, b.shl(x, b.u64(1))));
  return {};
}

// Halves of the two sources: low ones into the low half where the flag is false.
template <bool kHigh0, bool kHigh1>
Outcome pack_halves(Builder& b, const Instruction& i) {
  const Value x = scalar(b, i, 0), y = scalar(b, i, 1);
  const Value low = kHigh0 ? b.lshr(x, b.u32(16)) : b.land(x, b.u32(0xffff));
  const Value high = kHigh1 ? b.land(y, b.u32(0xffff0000)) : b.shl(y, b.u32(16));
  scalar_result(b, i, b.lor(low, high));
  return {};
}

// One result bit per quad of lanes: any of its four bits is set.
template <Type kType>
Value quads(Builder& b, Value x) {
  const Value pairs = b.lor(x, b.lshr(x, b.constant(kType, 1)));
  return b.land(b.lor(pairs, b.lshr(pairs, b.constant(kType, 2))),
                b.constant(kType, 0x1111111111111111 & width_mask(kType)));
}

template <Type kType>
Outcome whole_quads(Builder& b, const Instruction& i) {
  const Value x = quads<kType>(b, scalar(b, i, 0, kType));
  with_non_zero(b, i, b.op(Op::imul, x, b.constant(kType, 15)));
  return {};
}

template <Type kType>
Outcome quad_mask(Builder& b, const Instruction& i) {
  Value x = quads<kType>(b, scalar(b, i, 0, kType));
  constexpr struct {
    uint32_t shift;
    uint64_t keep;
  } kSteps[] = {{3, 0x0303030303030303}, {6, 0x000f000f000f000f}, {12, 0x000000ff000000ff}, {24, 0x000000000000ffff}};
  for (auto [shift, keep] : kSteps) {
    if (shift >= bits_of(kType)) break;
    x = b.land(b.lor(x, b.lshr(x, b.constant(kType, shift))), b.constant(kType, keep & width_mask(kType)));
  }
  with_non_zero(b, i, x);
  return {};
}

}  // namespace

void add_scalar_bits(SemanticTable& t) {
  set(t, Opcode::s_lshl_b32, shift<Op::shl, Type::u32>);
  set(t, Opcode::s_lshl_b64, shift<Op::shl, Type::u64>);
  set(t, Opcode::s_lshr_b32, shift<Op::lshr, Type::u32>);
  set(t, Opcode::s_lshr_b64, shift<Op::lshr, Type::u64>);
  set(t, Opcode::s_ashr_i32, shift<Op::ashr, Type::u32>);
  set(t, Opcode::s_ashr_i64, shift<Op::ashr, Type::u64>);
  set(t, Opcode::s_bfe_u32, extract_field<Op::lshr, Type::u32>);
  set(t, Opcode::s_bfe_i32, extract_field<Op::ashr, Type::u32>);
  set(t, Opcode::s_bfe_u64, extract_field<Op::lshr, Type::u64>);
  set(t, Opcode::s_bfe_i64, extract_field<Op::ashr, Type::u64>);
  set(t, Opcode::s_bfm_b32, field_mask<Type::u32>);
  set(t, Opcode::s_bfm_b64, field_mask<Type::u64>);
  set(t, Opcode::s_bcnt0_i32_b32, count_bits<false, Type::u32>);
  set(t, Opcode::s_bcnt0_i32_b64, count_bits<false, Type::u64>);
  set(t, Opcode::s_bcnt1_i32_b32, count_bits<true, Type::u32>);
  set(t, Opcode::s_bcnt1_i32_b64, count_bits<true, Type::u64>);
  set(t, Opcode::s_ff0_i32_b32, find_lowest<false, Type::u32>);
  set(t, Opcode::s_ff0_i32_b64, find_lowest<false, Type::u64>);
  set(t, Opcode::s_ff1_i32_b32, find_lowest<true, Type::u32>);
  set(t, Opcode::s_ff1_i32_b64, find_lowest<true, Type::u64>);
  set(t, Opcode::s_flbit_i32_b32, find_highest<Type::u32>);
  set(t, Opcode::s_flbit_i32_b64, find_highest<Type::u64>);
  set(t, Opcode::s_flbit_i32, find_sign_end<Type::u32>);
  set(t, Opcode::s_flbit_i32_i64, find_sign_end<Type::u64>);
  set(t, Opcode::s_brev_b32, reverse_bits<Type::u32>);
  set(t, Opcode::s_brev_b64, reverse_bits<Type::u64>);
  set(t, Opcode::s_sext_i32_i8, extend_sign<8>);
  set(t, Opcode::s_sext_i32_i16, extend_sign<16>);
  set(t, Opcode::s_bitset0_b32, set_bit<false, Type::u32>);
  set(t, Opcode::s_bitset0_b64, set_bit<false, Type::u64>);
  set(t, Opcode::s_bitset1_b32, set_bit<true, Type::u32>);
  set(t, Opcode::s_bitset1_b64, set_bit<true, Type::u64>);
  set(t, Opcode::s_bitreplicate_b64_b32, replicate_bits);
  set(t, Opcode::s_pack_ll_b32_b16, pack_halves<false, false>);
  set(t, Opcode::s_pack_lh_b32_b16, pack_halves<false, true>);
  set(t, Opcode::s_pack_hh_b32_b16, pack_halves<true, true>);
  set(t, Opcode::s_wqm_b32, whole_quads<Type::u32>);
  set(t, Opcode::s_wqm_b64, whole_quads<Type::u64>);
  set(t, Opcode::s_quadmask_b32, quad_mask<Type::u32>);
  set(t, Opcode::s_quadmask_b64, quad_mask<Type::u64>);
}

}  // namespace orrery::shader::semantics
