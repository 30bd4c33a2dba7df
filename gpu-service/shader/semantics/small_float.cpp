#include "gpu-service/shader/semantics/small_float.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr uint32_t kRebias = 112u << 23;  // 127 - 15, where an f32's exponent stands
constexpr uint32_t kInfinity = 0x7f800000, kSmallestNormalHalf = 0x38800000, kHalfInfinity = 0x7c00;

Value add_bits(Builder& b, Value v, uint32_t n) { return b.add(v, b.u32(n)); }
Value below(Builder& b, Value v, uint32_t limit) { return b.compare(Op::ult, v, b.u32(limit)); }

}  // namespace

Value half_to_float_bits(Builder& b, Value half) {
  const Value size = b.land(half, b.u32(0x7fff));
  const Value sign = b.shl(b.land(half, b.u32(0x8000)), b.u32(16));
  const Value placed = b.shl(size, b.u32(13));
  const Value denormal = b.as(Type::u32, b.op(Op::fmul, b.op(Op::u_to_f, Type::f32, {size}), b.f32(0x1p-24f)));
  const Value whole = b.add(placed, b.select(below(b, size, kHalfInfinity), b.u32(kRebias), b.u32(2 * kRebias)));
  return b.lor(sign, b.select(below(b, size, 0x400), denormal, whole));
}

Value float_bits_to_half(Builder& b, Value bits) {
  const Value size = b.land(bits, b.u32(0x7fffffff));
  const Value sign = b.land(b.lshr(bits, b.u32(16)), b.u32(0x8000));
  const Value even = b.land(b.lshr(size, b.u32(13)), b.u32(1));
  const Value rounded = b.lshr(add_bits(b, b.add(size, even), 0xfff), b.u32(13));
  const Value normal = b.op(Op::umin, add_bits(b, rounded, 0u - (kRebias >> 13)), b.u32(kHalfInfinity));
  // The last bit of 0.5 is worth as much as a half's smallest denormal: the addition rounds.
  const Value sum = b.op(Op::fadd, b.as(Type::f32, size), b.f32(0.5f));
  const Value denormal = add_bits(b, b.as(Type::u32, sum), 0u - 0x3f000000u);
  const Value nan = b.lor(b.u32(0x7e00), b.land(b.lshr(size, b.u32(13)), b.u32(0x3ff)));
  const Value number = b.select(below(b, size, kSmallestNormalHalf), denormal, normal);
  return b.lor(sign, b.select(b.compare(Op::ult, b.u32(kInfinity), size), nan, number));
}

Value float_bits_to_small(Builder& b, Value bits, Value mantissa) {
  const Value f = b.as(Type::f32, bits);
  const Value drop = b.sub(b.u32(10), mantissa);
  const Value cut = add_bits(b, b.lshr(bits, b.u32(13)), 0u - (kRebias >> 13));
  const Value finite = b.op(Op::umin, cut, b.u32(kHalfInfinity - 1));
  const Value normal = b.select(b.compare(Op::ieq, bits, b.u32(kInfinity)), b.u32(kHalfInfinity), finite);
  const Value tiny = b.op(Op::fmin, b.op(Op::fmul, f, b.f32(0x1p24f)), b.f32(1023.0f));
  const Value denormal = b.op(Op::f_to_u, Type::u32, {b.op(Op::fmax, tiny, b.f32(0))});
  const Value half = b.select(below(b, bits, kSmallestNormalHalf), denormal, normal);
  // Negative numbers and zeros, as integers, are above every positive one or 0.
  const Value positive = b.land(below(b, bits, kInfinity + 1), b.compare(Op::ine, bits, b.u32(0)));
  const Value number = b.select(positive, b.lshr(half, drop), b.u32(0));
  const Value nan = b.compare(Op::ult, b.u32(kInfinity), b.land(bits, b.u32(0x7fffffff)));
  const Value ones = b.lshr(b.u32(0x7fff), drop);
  return b.select(nan, ones, number);
}

}  // namespace orrery::shader::semantics
