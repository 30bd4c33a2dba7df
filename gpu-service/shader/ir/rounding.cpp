#include "gpu-service/shader/ir/rounding.hpp"

#include <utility>

#include "gpu-service/shader/ir/float_shape.hpp"
#include "gpu-service/shader/ir/rounding_double.hpp"

namespace orrery::shader::ir {
namespace {

Value widened(Builder& b, Value v, Type to) {
  if (b.type(v) == to) return v;
  if (b.type(v) == Type::f16 && to == Type::f64) v = b.op(Op::f_to_f, Type::f32, {v});
  return b.op(Op::f_to_f, to, {v});
}

// One step in the representation: away from zero (+1) or toward it (-1).
Value stepped(Builder& b, Value v, Value condition, Value away) {
  const Type type = b.type(v), integer = shape_of(type).integer;
  const Value bits = b.as(integer, v);
  const Value one = b.constant(integer, 1);
  const Value moved = b.select(away, b.add(bits, one), b.sub(bits, one));
  return b.as(type, b.select(condition, moved, bits));
}

// The last bit set where `low` shows that something was lost: rounding again then is as rounding once (Boldo and
// Melquiond, "Emulation of FMA and correctly rounded sums", 2008). An error of NaN comes of infinities: nothing to do.
Value to_odd(Builder& b, Value high, Value low) {
  const Value zero = b.constant(Type::f64, 0);
  const Value even =
      b.compare(Op::ieq, b.land(b.as(Type::u64, high), b.constant(Type::u64, 1)), b.constant(Type::u64, 0));
  const Value lost = b.compare(Op::fne, low, zero);
  const Value same = b.op(Op::ieq, Type::b1, {b.compare(Op::flt, zero, low), b.compare(Op::flt, zero, high)});
  return stepped(b, high, b.land(even, lost), same);
}

// v is a zero whose bits are known before the program runs: 0 or the sign bit.
bool is_zero(Builder& b, Value v, uint64_t& bits) {
  const Inst& inst = b.function().at(v);
  const uint64_t sign = shape_of(inst.type).sign_bit();
  if (b.is_constant(v, bits)) return (bits & (sign - 1)) == 0;
  if (inst.op == Op::fneg && is_zero(b, b.function().args(v)[0], bits)) {
    bits ^= sign;
    return true;
  }
  if (inst.op != Op::f_to_f || !is_zero(b, b.function().args(v)[0], bits)) return false;
  bits = bits != 0 ? sign : 0;
  return true;
}

// Drivers make x of x + 0, which is wrong for -0, and 0 of x * 0, which is wrong for NaN, infinities and signs
// (llvmpipe does, exact or not): such operations are written out.
Value plain_add(Builder& b, Value x, Value y) {
  uint64_t zero = 0;
  if (is_zero(b, x, zero)) std::swap(x, y);
  if (!is_zero(b, y, zero)) return b.op(Op::fadd, x, y);
  if (zero != 0) return x;
  return b.select(b.compare(Op::feq, x, y), b.constant(b.type(x), 0), x);
}

Value plain_mul(Builder& b, Value x, Value y) {
  uint64_t zero = 0;
  if (is_zero(b, x, zero)) std::swap(x, y);
  if (!is_zero(b, y, zero)) return b.op(Op::fmul, x, y);
  const Type type = b.type(x);
  const FloatShape shape = shape_of(type);
  const Value sign = b.land(b.as(shape.integer, x), b.constant(shape.integer, shape.sign_bit()));
  const Value finite = b.compare(Op::flt, b.op(Op::fabs, x), b.constant(type, shape.infinity()));
  const Value nan = b.constant(type, shape.infinity() | shape.quiet_bit());
  return b.select(finite, b.as(type, b.lxor(sign, b.constant(shape.integer, zero))), nan);
}

// To nearest even. With a zero factor the product is exact, and with a zero to add only the sign of an exact zero is
// not the product's.
Value plain_fma(Builder& b, Value x, Value y, Value z) {
  uint64_t zero = 0;
  if (is_zero(b, x, zero) || is_zero(b, y, zero)) return plain_add(b, plain_mul(b, x, y), z);
  if (!is_zero(b, z, zero)) {
    const Type type = b.type(x);
    const HostFeatures& host = b.options().host;
    const bool flushed = !b.mode().keeps_inputs(type) && !b.mode().keeps_results(type);
    if (type == Type::f32 && !flushed && host.fuses_fma && !host.fma_keeps_denormals && !host.float64) {
      b.refuse("fused multiply-add of denormals on a device that flushes them and has no 64-bit floats");
    }
    return b.op(Op::ffma, type, {x, y, z}, flushed);
  }
  const Value product = plain_mul(b, x, y);
  if (zero != 0) return product;
  const Value nothing = b.constant(b.type(x), 0);
  const Value exact = b.lor(b.compare(Op::feq, x, nothing), b.compare(Op::feq, y, nothing));
  return b.select(b.land(exact, b.compare(Op::feq, product, nothing)), nothing, product);
}

// x + y of doubles, to odd. An exact zero is -0 when rounding down, unless both are +0.
Value odd_sum(Builder& b, Value x, Value y, Round round) {
  const Value s = plain_add(b, x, y), t = b.op(Op::fsub, s, x);
  const Value error = b.op(Op::fadd, b.op(Op::fsub, x, b.op(Op::fsub, s, t)), b.op(Op::fsub, y, t));
  const Value odd = to_odd(b, s, error);
  if (round != Round::down) return odd;
  const Value signs = b.land(b.lor(b.as(Type::u64, x), b.as(Type::u64, y)), b.constant(Type::u64, 1ull << 63));
  return b.select(b.compare(Op::feq, s, b.constant(Type::f64, 0)), b.as(Type::f64, signs), odd);
}

// A float to half, by its bits: NVIDIA's driver takes a float that became a half and a float again for the same float.
Value half_step(Builder& b, Value exact, Round round) {
  const Value bits = b.as(Type::u32, exact), size = b.land(bits, b.u32(0x7fffffff));
  const bool nearest = round == Round::nearest_even;
  const Value high = b.lshr(size, b.u32(13));
  // To nearest: what a carry out of the bits that go adds; ties to even.
  const Value rounded = nearest ? b.lshr(b.add(size, b.add(b.u32(0xfff), b.land(high, b.u32(1)))), b.u32(13)) : high;
  const Value normal = b.op(Op::umin, b.sub(rounded, b.u32((127 - 15) << 10)), b.u32(nearest ? 0x7c00 : 0x7bff));
  const Value magnitude = b.op(Op::fabs, exact);
  const Value below = b.as(Type::f32, b.op(Op::umin, size, b.u32(0x38800000)));
  const Value steps = b.op(Op::fmul, below, b.f32(0x1p24f));  // of 2^-24
  const Value tiny = b.op(Op::f_to_u, Type::u32, {nearest ? b.op(Op::frint, steps) : steps});
  Value half = b.select(b.compare(Op::ult, size, b.u32(0x38800000)), tiny, normal);
  const Value quiet = b.select(b.compare(Op::ult, b.u32(0x7f800000), size), b.u32(0x7e00), b.u32(0x7c00));
  const Value special = b.lor(b.land(high, b.u32(0x3ff)), quiet);
  half = b.select(b.compare(Op::ult, size, b.u32(0x7f800000)), half, special);
  if (round == Round::up || round == Round::down) {
    const Value back = b.op(Op::f_to_f, Type::f32, {b.as(Type::f16, b.truncate(Type::u16, half))});
    const Value positive = b.compare(Op::ult, bits, b.u32(0x80000000));
    const Value away = b.land(round == Round::up ? positive : b.lnot(positive), b.compare(Op::flt, back, magnitude));
    half = b.select(away, b.add(half, b.u32(1)), half);
  }
  const Value sign = b.land(b.lshr(bits, b.u32(16)), b.u32(0x8000));
  return b.as(Type::f16, b.truncate(Type::u16, b.lor(half, sign)));
}

// `exact` (one type wider) rounded to nearest and then moved to the side that the mode wants.
Value narrowed_step(Builder& b, Value exact, Type to, Round round) {
  const Type wide = b.type(exact), integer = shape_of(to).integer;
  if (to == Type::f16 && (round != Round::nearest_even || !b.options().host.rounds_halves)) {
    return half_step(b, exact, round);
  }
  const Value nearest = b.op(Op::f_to_f, to, {exact});
  if (round == Round::nearest_even) return nearest;
  const Value back = b.op(Op::f_to_f, wide, {nearest});
  const Value negative = b.compare(
      Op::ine, b.land(b.as(integer, nearest), b.constant(integer, shape_of(to).sign_bit())), b.constant(integer, 0));
  switch (round) {
    case Round::toward_zero:
      return stepped(b, nearest, b.compare(Op::flt, b.op(Op::fabs, exact), b.op(Op::fabs, back)), b.b1(false));
    case Round::up:
      return stepped(b, nearest, b.compare(Op::flt, back, exact), b.lnot(negative));
    default:
      return stepped(b, nearest, b.compare(Op::flt, exact, back), negative);
  }
}

// A double that is exact or rounded to odd.
Value narrowed(Builder& b, Value v, Type to, Round round) {
  if (to == Type::f16) {
    const Value single = b.op(Op::f_to_f, Type::f32, {v}), back = b.op(Op::f_to_f, Type::f64, {single});
    const Value even =
        b.compare(Op::ieq, b.land(b.as(Type::u32, single), b.constant(Type::u32, 1)), b.constant(Type::u32, 0));
    const Value away = b.compare(Op::flt, b.op(Op::fabs, back), b.op(Op::fabs, v));
    v = stepped(b, single, b.land(even, b.compare(Op::fne, back, v)), away);
  }
  return narrowed_step(b, v, to, round);
}

bool has_doubles(Builder& b) {
  if (!b.options().host.float64) b.refuse("rounding other than to nearest even on a device without 64-bit floats");
  return b.options().host.float64;
}

}  // namespace

Value rounded_add(Builder& b, Value x, Value y) {
  const Type type = b.type(x);
  const Round round = b.mode().round(type);
  if (round == Round::nearest_even || !has_doubles(b)) return plain_add(b, x, y);
  if (type == Type::f64) return double_fma(b, x, b.f64(1), y, round);
  return narrowed(b, odd_sum(b, widened(b, x, Type::f64), widened(b, y, Type::f64), round), type, round);
}

Value rounded_sub(Builder& b, Value x, Value y) {
  uint64_t zero = 0;
  const bool plain = b.mode().round(b.type(x)) == Round::nearest_even && !is_zero(b, x, zero) && !is_zero(b, y, zero);
  return plain ? b.op(Op::fsub, x, y) : rounded_add(b, x, b.op(Op::fneg, y));
}

Value rounded_mul(Builder& b, Value x, Value y) {
  const Type type = b.type(x);
  const Round round = b.mode().round(type);
  if (round == Round::nearest_even || !has_doubles(b)) return plain_mul(b, x, y);
  if (type == Type::f64) {
    // A zero of the product's own sign adds nothing, whatever the rounding.
    const Value sign = b.land(b.lxor(b.as(Type::u64, x), b.as(Type::u64, y)), b.constant(Type::u64, 1ull << 63));
    return double_fma(b, x, y, b.as(Type::f64, sign), round);
  }
  return narrowed(b, plain_mul(b, widened(b, x, Type::f64), widened(b, y, Type::f64)), type, round);
}

Value rounded_fma(Builder& b, Value x, Value y, Value z) {
  const Type type = b.type(x);
  const Round round = b.mode().round(type);
  if (round == Round::nearest_even || !has_doubles(b)) return plain_fma(b, x, y, z);
  if (type == Type::f64) return double_fma(b, x, y, z, round);
  const Value product = plain_mul(b, widened(b, x, Type::f64), widened(b, y, Type::f64));
  return narrowed(b, odd_sum(b, product, widened(b, z, Type::f64), round), type, round);
}

Value rounded_convert(Builder& b, Value v, Type to) { return rounded_convert(b, v, to, b.mode().round(to)); }

Value rounded_convert(Builder& b, Value v, Type to, Round round) {
  const Type from = b.type(v);
  if (from == to) return v;
  if (bits_of(to) > bits_of(from)) return widened(b, v, to);
  return from == Type::f64 && to == Type::f16 ? narrowed(b, v, to, round) : narrowed_step(b, v, to, round);
}

Value rounded_from_integer(Builder& b, Value v, Type to, bool is_signed) {
  const Op op = is_signed ? Op::s_to_f : Op::u_to_f;
  const Round round = b.mode().round(to);
  if (round == Round::nearest_even || to == Type::f64 || !has_doubles(b)) return b.op(op, to, {v});
  return narrowed(b, b.op(op, Type::f64, {v}), to, round);
}

Value rounded_integral(Builder& b, Value v) {
  switch (b.mode().round(b.type(v))) {
    case Round::nearest_even:
      return b.op(Op::frint, v);
    case Round::up:
      return b.op(Op::fceil, v);
    case Round::down:
      return b.op(Op::ffloor, v);
    case Round::toward_zero:
      return b.op(Op::ftrunc, v);
  }
  return v;
}

}  // namespace orrery::shader::ir
