// Shifts, bit fields, counts, searches and byte operations per lane.
#include <array>

#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr Type kU32 = Type::u32;

// Count first, value second.
template <Op kOp>
Outcome shift_64(Builder& b, const Instruction& i) {
  const Value count = b.zext(Type::u64, source(b, i, 0, kU32));
  result(b, i, b.op(kOp, source(b, i, 1, Type::u64), count));
  return {};
}

// {source 0, source 1} >> count, the low dword; `scale`: bits per unit of the count.
template <uint32_t kScale>
Outcome align(Builder& b, const Instruction& i) {
  const Value high = source(b, i, 0, kU32), low = source(b, i, 1, kU32);
  const Value count = b.land(b.op(Op::imul, source(b, i, 2, kU32), b.u32(kScale)), b.u32(31));
  // Shifting up by one and by 31 - count keeps the count below 32 where count is 0.
  const Value above = b.shl(b.shl(high, b.u32(1)), b.lxor(count, b.u32(31)));
  uint64_t constant = 0;
  if (b.is_constant(count, constant)) {
    result(b, i,
           constant == 0 ? low : b.lor(b.lshr(low, count), b.shl(high, b.u32(32 - static_cast<uint32_t>(constant)))));
  } else {
    result(b, i, b.lor(b.lshr(low, count), above));
  }
  return {};
}

// Offset in 4:0 of source 1, width in 4:0 of source 2.
Outcome extract_unsigned(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kU32), offset = source(b, i, 1, kU32), width = source(b, i, 2, kU32);
  uint64_t o = 0, w = 0;
  if (b.is_constant(offset, o) && b.is_constant(width, w)) {
    const auto first = static_cast<uint32_t>(o & 31), count = static_cast<uint32_t>(w & 31);
    result(b, i, b.op(Op::bitfield_u, x, b.u32(first), b.u32(std::min(count, 32 - first))));
    return {};
  }
  const Value ones = b.sub(b.shl(b.u32(1), width), b.u32(1));
  result(b, i, b.land(b.lshr(x, offset), ones));
  return {};
}

Outcome extract_signed(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kU32), offset = source(b, i, 1, kU32), width = source(b, i, 2, kU32);
  uint64_t o = 0, w = 0;
  if (b.is_constant(offset, o) && b.is_constant(width, w)) {
    const auto first = static_cast<uint32_t>(o & 31), count = static_cast<uint32_t>(w & 31);
    result(b, i, b.op(Op::bitfield_s, x, b.u32(first), b.u32(std::min(count, 32 - first))));
    return {};
  }
  const Value used = b.land(width, b.u32(31)), unused = b.sub(b.u32(32), used);
  const Value field = b.ashr(b.shl(b.ashr(x, offset), unused), unused);
  result(b, i, b.select(b.compare(Op::ieq, used, b.u32(0)), b.u32(0), field));
  return {};
}

Outcome insert_field(Builder& b, const Instruction& i) {
  const Value mask = source(b, i, 0, kU32), x = source(b, i, 1, kU32), y = source(b, i, 2, kU32);
  result(b, i, b.lor(b.land(mask, x), b.land(b.lnot(mask), y)));
  return {};
}

Outcome field_mask(Builder& b, const Instruction& i) {
  const Value ones = b.sub(b.shl(b.u32(1), source(b, i, 0, kU32)), b.u32(1));
  result(b, i, b.shl(ones, source(b, i, 1, kU32)));
  return {};
}

// Zeros in front of the highest set bit; -1 when there is none.
Outcome find_high(Builder& b, const Instruction& i) {
  const Value place = b.op(Op::find_umsb, source(b, i, 0, kU32));
  result(b, i, all_ones_if(b, negative(b, place), b.sub(b.u32(31), place)));
  return {};
}

Outcome find_high_signed(Builder& b, const Instruction& i) {
  const Value place = b.op(Op::find_smsb, source(b, i, 0, kU32));
  result(b, i, all_ones_if(b, negative(b, place), b.sub(b.u32(31), place)));
  return {};
}

Outcome count_ones(Builder& b, const Instruction& i) {
  result(b, i, b.add(b.op(Op::bit_count, source(b, i, 0, kU32)), source(b, i, 1, kU32)));
  return {};
}

Value byte_of(Builder& b, Value word, uint32_t n) { return b.op(Op::bitfield_u, word, b.u32(8 * n), b.u32(8)); }

Value join_bytes(Builder& b, const std::array<Value, 4>& bytes) {
  const Value low = b.lor(bytes[0], b.shl(bytes[1], b.u32(8)));
  return b.lor(low, b.lor(b.shl(bytes[2], b.u32(16)), b.shl(bytes[3], b.u32(24))));
}

// One byte chosen from {source 0, source 1}: 0..7 the byte, 8..11 the sign of bytes 1, 3, 5, 7 eight times, 12 zeros,
// 13 and above ones.
Value permuted_byte(Builder& b, Value high, Value low, Value selector) {
  uint64_t constant = 0;
  if (b.is_constant(selector, constant)) {
    const auto n = static_cast<uint32_t>(constant);
    if (n < 8) return byte_of(b, n < 4 ? low : high, n % 4);
    if (n == 12) return b.u32(0);
    if (n > 12) return b.u32(0xff);
    return b.land(b.ashr(b.shl((n - 8) / 2 != 0 ? high : low, b.u32((n - 8) % 2 != 0 ? 0 : 16)), b.u32(31)),
                  b.u32(0xff));
  }
  const Value word = b.select(non_zero(b, b.land(selector, b.u32(4))), high, low);
  const Value byte = b.land(b.lshr(word, b.shl(b.land(selector, b.u32(3)), b.u32(3))), b.u32(0xff));
  const Value sign_word = b.select(non_zero(b, b.land(selector, b.u32(2))), high, low);
  const Value sign_bit = b.shl(b.lxor(b.land(selector, b.u32(1)), b.u32(1)), b.u32(4));
  const Value sign = b.land(b.ashr(b.shl(sign_word, sign_bit), b.u32(31)), b.u32(0xff));
  const Value fill = b.select(b.compare(Op::ieq, selector, b.u32(12)), b.u32(0), b.u32(0xff));
  const Value constant_part = b.select(b.compare(Op::ult, selector, b.u32(12)), sign, fill);
  return b.select(b.compare(Op::ult, selector, b.u32(8)), byte, constant_part);
}

Outcome permute_bytes(Builder& b, const Instruction& i) {
  const Value high = source(b, i, 0, kU32), low = source(b, i, 1, kU32), selectors = source(b, i, 2, kU32);
  std::array<Value, 4> bytes;
  for (uint32_t n = 0; n < 4; ++n) bytes[n] = permuted_byte(b, high, low, byte_of(b, selectors, n));
  result(b, i, join_bytes(b, bytes));
  return {};
}

Value absolute_difference(Builder& b, Value x, Value y) { return b.sub(b.op(Op::umax, x, y), b.op(Op::umin, x, y)); }

Outcome sum_of_differences_32(Builder& b, const Instruction& i) {
  const Value difference = absolute_difference(b, source(b, i, 0, kU32), source(b, i, 1, kU32));
  result(b, i, saturating_add(b, difference, source(b, i, 2, kU32), i.clamp));
  return {};
}

// Of parts of kBits. kMasked: parts whose second byte is 0 do not count.
template <uint32_t kBits, bool kMasked>
Value part_differences(Builder& b, Value x, Value y) {
  Value sum = b.u32(0);
  for (uint32_t at = 0; at < 32; at += kBits) {
    const Value u = b.op(Op::bitfield_u, x, b.u32(at), b.u32(kBits)),
                v = b.op(Op::bitfield_u, y, b.u32(at), b.u32(kBits));
    Value part = absolute_difference(b, u, v);
    if (kMasked) part = b.select(non_zero(b, v), part, b.u32(0));
    sum = b.add(sum, part);
  }
  return sum;
}

// The sum is shifted up by kShift.
template <uint32_t kBits, uint32_t kShift, bool kMasked = false>
Outcome sum_of_differences(Builder& b, const Instruction& i) {
  const Value sum = part_differences<kBits, kMasked>(b, source(b, i, 0, kU32), source(b, i, 1, kU32));
  result(b, i, saturating_add(b, b.shl(sum, b.u32(kShift)), source(b, i, 2, kU32), i.clamp));
  return {};
}

// Four sums over four bytes each, of the eight bytes of source 0 from byte n on. Accumulators and results are packed
// 16-bit numbers (kPacked) or four registers.
template <bool kMasked, bool kPacked>
Outcome four_sums(Builder& b, const Instruction& i) {
  const Value bytes = source(b, i, 0, Type::u64), y = source(b, i, 1, kU32);
  std::array<Value, 4> sums;
  if (!kPacked && i.sources[2].kind != OperandKind::vgpr)
    return refuse("accumulator of four registers that is no VGPR");
  const Value packed = kPacked ? source(b, i, 2, Type::u64) : Value{};
  for (uint32_t n = 0; n < 4; ++n) {
    const Value window = b.low32(b.lshr(bytes, b.u64(8 * n)));
    const Value sum = part_differences<8, kMasked>(b, window, y);
    if (kPacked) {
      const Value word = n < 2 ? b.low32(packed) : b.high32(packed);
      sums[n] = b.add(sum, b.op(Op::bitfield_u, word, b.u32(n % 2 * 16), b.u32(16)));
      sums[n] = i.clamp ? b.op(Op::umin, sums[n], b.u32(0xffff)) : b.land(sums[n], b.u32(0xffff));
    } else {
      sums[n] = saturating_add(b, sum, b.vgpr(i.sources[2].index + n), i.clamp);
    }
  }
  if (kPacked) {
    result(b, i, b.pack64(b.lor(sums[0], b.shl(sums[1], b.u32(16))), b.lor(sums[2], b.shl(sums[3], b.u32(16)))));
    return {};
  }
  for (uint32_t n = 0; n < 4; ++n) b.set_vgpr(i.destination.index + n, sums[n]);
  return {};
}

// Byte averages; bit 0 of the third source's byte rounds up.
Outcome average_bytes(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kU32), y = source(b, i, 1, kU32), up = source(b, i, 2, kU32);
  std::array<Value, 4> bytes;
  for (uint32_t n = 0; n < 4; ++n) {
    const Value sum = b.add(b.add(byte_of(b, x, n), byte_of(b, y, n)), b.land(byte_of(b, up, n), b.u32(1)));
    bytes[n] = b.lshr(sum, b.u32(1));
  }
  result(b, i, join_bytes(b, bytes));
  return {};
}

}  // namespace

void add_vector_bits(SemanticTable& t) {
  set(t, Opcode::v_lshlrev_b32, reversed<Op::shl, kU32>);
  set(t, Opcode::v_lshrrev_b32, reversed<Op::lshr, kU32>);
  set(t, Opcode::v_ashrrev_i32, reversed<Op::ashr, kU32>);
  set(t, Opcode::v_lshlrev_b64, shift_64<Op::shl>);
  set(t, Opcode::v_lshrrev_b64, shift_64<Op::lshr>);
  set(t, Opcode::v_ashrrev_i64, shift_64<Op::ashr>);
  set(t, Opcode::v_alignbit_b32, align<1>);
  set(t, Opcode::v_alignbyte_b32, align<8>);
  set(t, Opcode::v_bfe_u32, extract_unsigned);
  set(t, Opcode::v_bfe_i32, extract_signed);
  set(t, Opcode::v_bfi_b32, insert_field);
  set(t, Opcode::v_bfm_b32, field_mask);
  set(t, Opcode::v_ffbh_u32, find_high);
  set(t, Opcode::v_ffbh_i32, find_high_signed);
  set(t, Opcode::v_ffbl_b32, unary<Op::find_lsb, kU32>);
  set(t, Opcode::v_bfrev_b32, unary<Op::bit_reverse, kU32>);
  set(t, Opcode::v_bcnt_u32_b32, count_ones);
  set(t, Opcode::v_perm_b32, permute_bytes);
  set(t, Opcode::v_sad_u32, sum_of_differences_32);
  set(t, Opcode::v_sad_u16, sum_of_differences<16, 0>);
  set(t, Opcode::v_sad_u8, sum_of_differences<8, 0>);
  set(t, Opcode::v_sad_hi_u8, sum_of_differences<8, 16>);
  set(t, Opcode::v_msad_u8, sum_of_differences<8, 0, true>);
  set(t, Opcode::v_qsad_pk_u16_u8, four_sums<false, true>);
  set(t, Opcode::v_mqsad_pk_u16_u8, four_sums<true, true>);
  set(t, Opcode::v_mqsad_u32_u8, four_sums<true, false>);
  set(t, Opcode::v_lerp_u8, average_bytes);
}

}  // namespace orrery::shader::semantics
