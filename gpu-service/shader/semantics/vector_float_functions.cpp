// Roots, reciprocals, exponentials, sines, fractions, and taking floats apart.
#include <numbers>

#include "gpu-service/shader/ir/rounding.hpp"
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/float_shape.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

// x - floor(x), below 1: for tiny negative x the difference would round to 1.
template <Type kType>
Outcome fraction(Builder& b, const Instruction& i) {
  const FloatShape shape = shape_of(kType);
  const Value x = source(b, i, 0, kType);
  const Value below_one = b.constant(kType, shape.power_of_two(0) - 1);
  const Value d = ir::rounded_sub(b, x, b.op(Op::ffloor, x));
  result(b, i, b.select(b.compare(Op::flt, below_one, d), below_one, d));  // NaN, also of an infinity, stays
  return {};
}

// The argument counts full turns. Taking the whole turns off first keeps the host's function where it is exact.
template <Op kOp, Type kType>
Outcome circular(Builder& b, const Instruction& i) {
  Value x = source(b, i, 0, kType);
  if (kType == Type::f16) x = b.op(Op::f_to_f, Type::f32, {x});
  const Value turn = b.op(Op::fsub, x, b.op(Op::frint, x));
  Value d = b.op(kOp, b.op(Op::fmul, turn, b.f32(2 * std::numbers::pi_v<float>)));
  if (kType == Type::f16) d = b.op(Op::f_to_f, Type::f16, {d});
  result(b, i, d);
  return {};
}

// The host's functions in f32 are more exact than f16 can show.
template <Op kOp>
Outcome through_f32(Builder& b, const Instruction& i) {
  const Value x = b.op(Op::f_to_f, Type::f32, {source(b, i, 0, Type::f16)});
  result(b, i, b.op(Op::f_to_f, Type::f16, {b.op(kOp, x)}));
  return {};
}

// Results that would be denormal are zero.
Outcome exponential(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, Type::f32);
  result(b, i, b.select(b.compare(Op::flt, x, b.f32(-126)), b.f32(0), b.op(Op::fexp2, x)));
  return {};
}

// The hardware's functions know no denormals, whatever the mode.
template <Op kOp>
Outcome of_flushed(Builder& b, const Instruction& i) {
  const Value d = b.op(kOp, b.flush(source(b, i, 0, Type::f32)));
  result(b, i, kOp == Op::frcp ? b.flush(d) : d);
  return {};
}

template <Type kType>
Outcome scale(Builder& b, const Instruction& i) {
  Value n = source(b, i, 1, kType == Type::f16 ? Type::u16 : Type::u32);
  if (kType == Type::f16) n = b.sext(Type::u32, n);
  result(b, i, scale_by_power(b, source(b, i, 0, kType), n));
  return {};
}

// Zeros in front of the highest bit of a non-zero mantissa field.
Value mantissa_zeros(Builder& b, Value bits, FloatShape shape) {
  if (shape.integer == Type::u64) {
    const Value mantissa = b.land(bits, b.u64(shape.mantissa_mask()));
    const Value high = b.high32(mantissa), low = b.low32(mantissa);
    const Value in_high = b.sub(b.u32(shape.mantissa - 33), b.op(Op::find_umsb, high));
    const Value in_low = b.sub(b.u32(shape.mantissa - 1), b.op(Op::find_umsb, low));
    return b.select(non_zero(b, high), in_high, in_low);
  }
  const Value mantissa = b.land(bits, b.u32(static_cast<uint32_t>(shape.mantissa_mask())));
  return b.sub(b.u32(shape.mantissa - 1), b.op(Op::find_umsb, mantissa));
}

struct Parts {
  Value exponent;  // u32: v = mantissa * 2^exponent, mantissa in [0.5, 1)
  Value mantissa;
};

template <Type kType>
Parts take_apart(Builder& b, Value v) {
  constexpr FloatShape kShape = shape_of(kType);
  // f16 is handled in 32 bits.
  constexpr Type kInteger = kType == Type::f64 ? Type::u64 : Type::u32;
  Value bits = b.as(kShape.integer, v);
  if (kType == Type::f16) bits = b.zext(Type::u32, bits);
  auto constant = [&](uint64_t value) { return b.constant(kInteger, value); };
  const Value biased = biased_exponent(b, v);
  const Value zeros = mantissa_zeros(b, bits, kShape);  // of a denormal
  const Value tiny = b.compare(Op::ieq, biased, b.u32(0));
  const Value zero = b.compare(Op::ieq, b.land(bits, constant(kShape.sign_bit() - 1)), constant(0));
  const Value special = b.compare(Op::ieq, biased, b.u32(static_cast<uint32_t>(kShape.largest_exponent())));
  const Value neither = b.lor(zero, special);
  const Value exponent = b.select(tiny, b.sub(b.u32(0), zeros), biased);
  const Value unbiased = b.sub(exponent, b.u32(static_cast<uint32_t>(kShape.bias - 1)));
  Value shift = b.add(zeros, b.u32(1));
  if (kInteger == Type::u64) shift = b.zext(Type::u64, shift);
  const Value normal = b.select(tiny, b.shl(bits, shift), bits);
  const Value fraction = b.lor(b.land(normal, constant(kShape.mantissa_mask())), constant(kShape.power_of_two(-1)));
  Value mantissa = b.select(neither, bits, b.lor(fraction, b.land(bits, constant(kShape.sign_bit()))));
  if (kType == Type::f16) mantissa = b.truncate(Type::u16, mantissa);
  return {b.select(neither, b.u32(0), unbiased), b.as(kType, mantissa)};
}

template <Type kType>
Outcome exponent(Builder& b, const Instruction& i) {
  const Value d = take_apart<kType>(b, source(b, i, 0, kType)).exponent;
  result(b, i, kType == Type::f16 ? b.truncate(Type::u16, d) : d);
  return {};
}

template <Type kType>
Outcome mantissa(Builder& b, const Instruction& i) {
  result(b, i, take_apart<kType>(b, source(b, i, 0, kType)).mantissa);
  return {};
}

}  // namespace

void add_vector_float_functions(SemanticTable& t) {
  set(t, Opcode::v_fract_f16, fraction<Type::f16>);
  set(t, Opcode::v_fract_f32, fraction<Type::f32>);
  set(t, Opcode::v_fract_f64, fraction<Type::f64>);
  set(t, Opcode::v_rcp_f32, of_flushed<Op::frcp>);
  set(t, Opcode::v_rcp_iflag_f32, of_flushed<Op::frcp>);
  set(t, Opcode::v_rcp_f64, unary<Op::frcp, Type::f64>);
  set(t, Opcode::v_rcp_f16, through_f32<Op::frcp>);
  set(t, Opcode::v_rsq_f32, of_flushed<Op::frsq>);
  set(t, Opcode::v_rsq_f64, unary<Op::frsq, Type::f64>);
  set(t, Opcode::v_rsq_f16, through_f32<Op::frsq>);
  set(t, Opcode::v_sqrt_f32, of_flushed<Op::fsqrt>);
  set(t, Opcode::v_sqrt_f64, unary<Op::fsqrt, Type::f64>);
  set(t, Opcode::v_sqrt_f16, through_f32<Op::fsqrt>);
  set(t, Opcode::v_exp_f32, exponential);
  set(t, Opcode::v_exp_f16, through_f32<Op::fexp2>);
  set(t, Opcode::v_log_f32, of_flushed<Op::flog2>);
  set(t, Opcode::v_log_f16, through_f32<Op::flog2>);
  set(t, Opcode::v_sin_f32, circular<Op::fsin, Type::f32>);
  set(t, Opcode::v_sin_f16, circular<Op::fsin, Type::f16>);
  set(t, Opcode::v_cos_f32, circular<Op::fcos, Type::f32>);
  set(t, Opcode::v_cos_f16, circular<Op::fcos, Type::f16>);
  set(t, Opcode::v_ldexp_f16, scale<Type::f16>);
  set(t, Opcode::v_ldexp_f32, scale<Type::f32>);
  set(t, Opcode::v_ldexp_f64, scale<Type::f64>);
  set(t, Opcode::v_frexp_exp_i16_f16, exponent<Type::f16>);
  set(t, Opcode::v_frexp_exp_i32_f32, exponent<Type::f32>);
  set(t, Opcode::v_frexp_exp_i32_f64, exponent<Type::f64>);
  set(t, Opcode::v_frexp_mant_f16, mantissa<Type::f16>);
  set(t, Opcode::v_frexp_mant_f32, mantissa<Type::f32>);
  set(t, Opcode::v_frexp_mant_f64, mantissa<Type::f64>);
}

}  // namespace orrery::shader::semantics
