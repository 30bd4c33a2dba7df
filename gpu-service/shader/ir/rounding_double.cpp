#include "gpu-service/shader/ir/rounding_double.hpp"

namespace orrery::shader::ir {
namespace {

constexpr uint64_t kSign = 1ull << 63, kImplicit = 1ull << 52, kInfinity = 0x7ffull << 52;

// 128 bits.
struct Wide {
  Value high, low;
};

struct Writer {
  Builder& b;

  Value n(uint64_t v) { return b.constant(Type::u64, v); }
  Value word(uint32_t v) { return b.u32(v); }
  Value widen(Value v) { return b.zext(Type::u64, v); }
  Value is_zero(Value v) { return b.compare(Op::ieq, v, n(0)); }
  Value least(Value x, uint32_t most) { return b.op(Op::umin, x, word(most)); }

  // Zeros in front, u32; 64 for 0.
  Value leading_zeros(Value v) {
    const Value high = b.high32(v), low = b.low32(v);
    // find_umsb answers ~0 for 0: 31 - ~0 = 32.
    const Value in_high = b.sub(word(31), b.op(Op::find_umsb, high));
    const Value in_low = b.sub(word(63), b.op(Op::find_umsb, low));
    return b.select(b.compare(Op::ieq, high, word(0)), in_low, in_high);
  }
  // Shifts by 0..127 (u32).
  Wide up(Wide v, Value by) {
    const Value count = widen(by), rest = widen(b.land(b.sub(word(64), by), word(63)));
    const Value carried = b.select(b.compare(Op::ieq, by, word(0)), n(0), b.lshr(v.low, rest));
    const Value far = b.compare(Op::ule, word(64), by);
    return {b.select(far, b.shl(v.low, count), b.lor(b.shl(v.high, count), carried)),
            b.select(far, n(0), b.shl(v.low, count))};
  }
  // What falls out at the bottom stays as the last bit.
  Wide down_sticky(Wide v, Value by) {
    const Value count = widen(by), rest = widen(b.land(b.sub(word(64), by), word(63)));
    const Value none = b.compare(Op::ieq, by, word(0)), far = b.compare(Op::ule, word(64), by);
    const Value carried = b.select(none, n(0), b.shl(v.high, rest));
    const Value inner = b.land(by, word(63));
    const Value mask = b.sub(b.shl(n(1), widen(inner)), n(1));
    const Value near_lost = b.land(v.low, mask), far_lost = b.lor(v.low, b.land(v.high, mask));
    const Value lost = b.compare(Op::ine, b.select(far, far_lost, near_lost), n(0));
    const Value low = b.select(far, b.lshr(v.high, count), b.lor(b.lshr(v.low, count), carried));
    return {b.select(far, n(0), b.lshr(v.high, count)), b.lor(low, b.select(lost, n(1), n(0)))};
  }
  Wide add(Wide x, Wide y) {
    const Value low = b.add(x.low, y.low), carry = b.select(b.compare(Op::ult, low, x.low), n(1), n(0));
    return {b.add(b.add(x.high, y.high), carry), low};
  }
  Wide sub(Wide x, Wide y) {
    const Value borrow = b.select(b.compare(Op::ult, x.low, y.low), n(1), n(0));
    return {b.sub(b.sub(x.high, y.high), borrow), b.sub(x.low, y.low)};
  }
  Wide select(Value c, Wide x, Wide y) { return {b.select(c, x.high, y.high), b.select(c, x.low, y.low)}; }
  Value below(Wide x, Wide y) {
    return b.lor(b.compare(Op::ult, x.high, y.high),
                 b.land(b.compare(Op::ieq, x.high, y.high), b.compare(Op::ult, x.low, y.low)));
  }

  struct Parts {
    Value exponent;  // u32, signed: value = mantissa * 2^(exponent - 1075), mantissa's top bit is bit 52
    Value mantissa;
  };
  Parts parts(Value bits) {
    const Value field = b.low32(b.land(b.lshr(bits, n(52)), n(0x7ff)));
    const Value fraction = b.land(bits, n(kImplicit - 1));
    const Value denormal = b.compare(Op::ieq, field, word(0));
    const Value shift = b.select(denormal, b.sub(leading_zeros(fraction), word(11)), word(0));
    const Value mantissa = b.select(denormal, b.shl(fraction, widen(shift)), b.lor(fraction, n(kImplicit)));
    return {b.select(denormal, b.sub(word(1), shift), field), mantissa};
  }
  // 53 bits by 53 bits.
  Wide product(Value x, Value y) {
    const Value xl = widen(b.low32(x)), xh = widen(b.high32(x)), yl = widen(b.low32(y)), yh = widen(b.high32(y));
    auto mul = [&](Value u, Value v) { return b.op(Op::imul, u, v); };
    const Value middle = b.add(mul(xl, yh), mul(xh, yl));  // below 2^54
    const Wide outer{mul(xh, yh), mul(xl, yl)};
    return add(outer, {b.lshr(middle, n(32)), b.shl(middle, n(32))});
  }
};

}  // namespace

Value double_fma(Builder& b, Value x, Value y, Value z, Round round) {
  Writer w{b};
  const Value xb = b.as(Type::u64, x), yb = b.as(Type::u64, y), zb = b.as(Type::u64, z);
  const Value product_sign = b.land(b.lxor(xb, yb), w.n(kSign)), z_sign = b.land(zb, w.n(kSign));
  auto size = [&](Value bits) { return b.land(bits, w.n(kSign - 1)); };
  auto special = [&](Value bits) { return b.compare(Op::ule, w.n(kInfinity), size(bits)); };
  const Value product_zero = b.lor(w.is_zero(size(xb)), w.is_zero(size(yb))), z_zero = w.is_zero(size(zb));

  const Writer::Parts px = w.parts(xb), py = w.parts(yb), pz = w.parts(zb);
  // Both with their top bits at bit 125 (the product's at 124 or 125): value = wide * 2^(exponent - 1075 - 73).
  const Wide p = w.up(w.product(px.mantissa, py.mantissa), w.word(20));
  const Value p_exponent = b.sub(b.add(px.exponent, py.exponent), w.word(1023 - 1));
  const Wide c{b.select(z_zero, w.n(0), b.shl(pz.mantissa, w.n(9))), w.n(0)};
  const Value c_exponent = b.select(z_zero, p_exponent, pz.exponent);
  const Value distance = b.sub(p_exponent, c_exponent);
  const Value p_larger = b.compare(Op::sle, w.word(0), distance);
  const Value p_down = b.select(p_larger, w.word(0), w.least(b.sub(w.word(0), distance), 127));
  const Value c_down = b.select(p_larger, w.least(distance, 127), w.word(0));
  const Wide pa = w.down_sticky(p, p_down), ca = w.down_sticky(c, c_down);
  Value exponent = b.select(p_larger, p_exponent, c_exponent);

  const Value same = b.compare(Op::ieq, product_sign, z_sign), less = w.below(pa, ca);
  const Wide sum = w.select(same, w.add(pa, ca), w.select(less, w.sub(ca, pa), w.sub(pa, ca)));
  Value sign = b.select(b.lor(same, b.lnot(less)), product_sign, z_sign);
  const Value nothing = b.land(w.is_zero(sum.high), w.is_zero(sum.low));

  // The top bit to bit 127, then 53 bits of it (fewer for a denormal result) and what is lost.
  const Value high_zeros = w.leading_zeros(sum.high);
  const Value zeros = b.select(w.is_zero(sum.high), b.add(w.word(64), w.leading_zeros(sum.low)), high_zeros);
  const Wide top = w.up(sum, w.least(zeros, 127));
  exponent = b.sub(b.add(exponent, w.word(2)), zeros);  // of a mantissa whose top bit is bit 127
  const Value tiny = b.compare(Op::slt, exponent, w.word(1));
  const Value more = b.select(tiny, w.least(b.sub(w.word(1), exponent), 53), w.word(0));
  const Value shift = w.widen(b.add(more, w.word(10)));  // 10..63: bit 63 goes to bit 53 - more, bit 0 is the half
  const Value half_up = b.lshr(top.high, shift);
  const Value kept = b.lshr(half_up, w.n(1)), half = b.land(half_up, w.n(1));
  const Value lost = b.land(top.high, b.sub(b.shl(w.n(1), shift), w.n(1)));
  const Value inexact = b.compare(Op::ine, b.lor(half, b.lor(lost, top.low)), w.n(0));
  const Value negative = b.compare(Op::ine, sign, w.n(0));
  Value up = b.b1(false);
  if (round == Round::up) up = b.land(inexact, b.lnot(negative));
  if (round == Round::down) up = b.land(inexact, negative);
  if (round == Round::nearest_even) {
    const Value beyond = b.compare(Op::ine, b.lor(b.lor(lost, top.low), b.land(kept, w.n(1))), w.n(0));
    const Value below_half = b.compare(Op::slt, exponent, w.word(static_cast<uint32_t>(-52)));
    up = b.land(b.land(b.compare(Op::ine, half, w.n(0)), b.lnot(below_half)), beyond);
  }
  // The implicit bit adds one to the exponent field, and so does a carry out of the mantissa.
  const Value field = b.select(tiny, w.n(0), w.widen(b.sub(exponent, w.word(1))));
  Value d = b.add(b.add(b.shl(field, w.n(52)), kept), b.select(up, w.n(1), w.n(0)));
  const Value too_large = b.lor(b.compare(Op::sle, w.word(2047), exponent), b.compare(Op::ule, w.n(kInfinity), d));
  const Value infinity = w.n(kInfinity), largest = w.n(kInfinity - 1);
  Value overflow = infinity;
  if (round == Round::toward_zero) overflow = largest;
  if (round == Round::up) overflow = b.select(negative, largest, infinity);
  if (round == Round::down) overflow = b.select(negative, infinity, largest);
  d = b.lor(b.select(b.land(b.lnot(tiny), too_large), overflow, d), sign);
  // An exact cancellation.
  d = b.select(nothing, w.n(round == Round::down ? kSign : 0), d);
  // Zero products: the addend, or the sum of zeros.
  const Value zeros_sum = round == Round::down ? b.lor(product_sign, z_sign) : b.land(product_sign, z_sign);
  d = b.select(product_zero, b.select(z_zero, zeros_sum, zb), d);
  const Value any_special = b.lor(special(xb), b.lor(special(yb), special(zb)));
  const Value plain = b.as(Type::u64, b.op(Op::fadd, b.op(Op::fmul, x, y), z));
  // A finite product that overflows must not meet an infinite addend of the other sign.
  const Value only_z = b.land(special(zb), b.lnot(b.lor(special(xb), special(yb))));
  return b.as(Type::f64, b.select(any_special, b.select(only_z, zb, plain), d));
}

}  // namespace orrery::shader::ir
