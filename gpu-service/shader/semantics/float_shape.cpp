#include "gpu-service/shader/semantics/float_shape.hpp"

#include <algorithm>

#include "gpu-service/shader/ir/rounding.hpp"
#include "gpu-service/shader/semantics/known_range.hpp"

namespace orrery::shader::semantics {

Value magnitude_bits(Builder& b, Value v) {
  const FloatShape shape = shape_of(b.type(v));
  return b.land(b.as(shape.integer, v), b.constant(shape.integer, shape.sign_bit() - 1));
}

Value biased_exponent(Builder& b, Value v) {
  const FloatShape shape = shape_of(b.type(v));
  if (shape.integer == Type::u64) return b.op(Op::bitfield_u, b.high32(v), b.u32(20), b.u32(11));
  Value bits = b.as(shape.integer, v);
  if (shape.integer == Type::u16) bits = b.zext(Type::u32, bits);
  return b.op(Op::bitfield_u, bits, b.u32(shape.mantissa), b.u32(shape.exponent));
}

namespace {

bool is_non_zero_constant(Builder& b, Value v) {
  uint64_t bits = 0;
  return b.is_constant(v, bits) && (bits & (shape_of(b.type(v)).sign_bit() - 1)) != 0;
}

// Results of these are never signaling.
bool is_quiet(const Builder& b, Value v) {
  switch (b.function().at(v).op) {
    case Op::constant:
    case Op::fadd:
    case Op::fsub:
    case Op::fmul:
    case Op::fdiv:
    case Op::ffma:
    case Op::fsaturate:
    case Op::s_to_f:
    case Op::u_to_f:
    case Op::f_to_f:
      return true;
    default:
      return false;
  }
}

// Equal operands differ in the sign of zero at most: the bits joined are the answer.
Value extreme(Builder& b, Op extreme, Op join, Value x, Value y) {
  const Type type = b.type(x), integer = shape_of(type).integer;
  Value d = b.op(extreme, x, y);
  const bool ordered = b.options().host.orders_zeros && type == Type::f32;  // what is probed
  if (!ordered && !is_non_zero_constant(b, x) && !is_non_zero_constant(b, y)) {
    const Value joined = b.as(type, b.op(join, b.as(integer, x), b.as(integer, y)));
    d = b.select(b.compare(Op::feq, x, y), joined, d);
  }
  if (!b.mode().ieee()) return d;
  for (const Value v : {y, x}) {
    if (!is_quiet(b, v)) d = b.select(is_signaling(b, v), quieted(b, v), d);
  }
  return d;
}

}  // namespace

Value is_signaling(Builder& b, Value v) {
  const FloatShape shape = shape_of(b.type(v));
  const Value size = magnitude_bits(b, v);
  const Value above = b.sub(size, b.constant(shape.integer, shape.infinity() + 1));
  return b.compare(Op::ult, above, b.constant(shape.integer, shape.quiet_bit() - 1));
}

Value quieted(Builder& b, Value v) {
  const FloatShape shape = shape_of(b.type(v));
  return b.as(b.type(v), b.lor(b.as(shape.integer, v), b.constant(shape.integer, shape.quiet_bit())));
}

Value float_min(Builder& b, Value x, Value y) { return extreme(b, Op::fmin, Op::ior, x, y); }
Value float_max(Builder& b, Value x, Value y) { return extreme(b, Op::fmax, Op::iand, x, y); }

namespace {

// 2^n, n a u32 within the normal range.
Value power(Builder& b, Type type, Value n) {
  const FloatShape shape = shape_of(type);
  const Value biased = b.add(n, b.u32(static_cast<uint32_t>(shape.bias)));
  if (type == Type::f64) return b.as(type, b.pack64(b.u32(0), b.shl(biased, b.u32(20))));
  return b.as(type, b.shl(biased, b.u32(shape.mantissa)));
}

Value clamp_signed(Builder& b, Value n, int32_t low, int32_t high) {
  return b.op(Op::smin, b.op(Op::smax, n, b.u32(static_cast<uint32_t>(low))), b.u32(static_cast<uint32_t>(high)));
}

}  // namespace

// In up to three steps. A step down is shorter than the range by the mantissa's width, so that what it may round is far
// below the smallest number once the last step is done.
Value scale_by_power(Builder& b, Value v, Value n) {
  const Type type = b.type(v);
  if (type == Type::f16) {  // exact in f32
    const Value wide =
        b.op(Op::fmul, b.op(Op::f_to_f, Type::f32, {v}), power(b, Type::f32, clamp_signed(b, n, -60, 60)));
    return ir::rounded_convert(b, wide, Type::f16);
  }
  const bool directed = b.mode().round(type) != ir::Round::nearest_even;
  if (type == Type::f32 && directed && b.options().host.float64) {
    const Value power_64 = power(b, Type::f64, clamp_signed(b, n, -400, 400));
    return ir::rounded_convert(b, b.op(Op::fmul, b.op(Op::f_to_f, Type::f64, {v}), power_64), Type::f32);
  }
  const FloatShape shape = shape_of(type);
  const int32_t lowest = 1 - shape.bias, highest = shape.bias;
  const int32_t down = lowest + static_cast<int32_t>(shape.mantissa) + 1;
  uint64_t constant = 0;
  if (b.is_constant(n, constant)) {
    const auto count = static_cast<int32_t>(static_cast<uint32_t>(constant));
    if (count >= lowest && count <= highest) return ir::rounded_mul(b, v, power_of_two(b, type, count));
  }
  KnownRange range = known_range(b, n);
  for (int step = 0; step < 2 && !range.within(lowest, highest); ++step) {
    const auto number = [&](int32_t count) { return b.u32(static_cast<uint32_t>(count)); };
    Value by = number(0);
    if (range.high > highest) by = b.select(b.compare(Op::slt, number(highest), n), number(highest), by);
    if (range.low < lowest) by = b.select(b.compare(Op::slt, n, number(lowest)), number(down), by);
    v = ir::rounded_mul(b, v, power(b, type, by));
    n = b.sub(n, by);
    if (range.high > highest) range.high = std::max<int64_t>(range.high - highest, highest);
    if (range.low < lowest) range.low = std::min<int64_t>(range.low - down, lowest);
  }
  if (!range.within(lowest, highest)) n = clamp_signed(b, n, lowest, highest);
  return ir::rounded_mul(b, v, power(b, type, n));
}

}  // namespace orrery::shader::semantics
