// The steps of an exact division: scale the operands away from the edges of the range, scale back, fix special cases.
#include "gpu-service/shader/ir/rounding.hpp"
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/float_shape.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

template <Type kType>
struct Division;
template <>
struct Division<Type::f32> {
  static constexpr int32_t kScale = 64, kFar = 96, kTinyNumerator = 23, kUnderflow = -150;
};
template <>
struct Division<Type::f64> {
  static constexpr int32_t kScale = 128, kFar = 768, kTinyNumerator = 53, kUnderflow = -1075;
};
template <>
struct Division<Type::f16> {
  static constexpr int32_t kUnderflow = -26;
};

// Source 0: the operand to scale, the denominator (source 1) or the numerator (source 2). The mask: the quotient is to
// be scaled back by v_div_fmas.
template <Type kType>
Outcome scale(Builder& b, const Instruction& i) {
  using Constants = Division<kType>;
  constexpr FloatShape kShape = shape_of(kType);
  const Value x = source(b, i, 0, kType), den = source(b, i, 1, kType), num = source(b, i, 2, kType);
  const Value up = b.op(Op::fmul, x, power_of_two(b, kType, Constants::kScale));
  const Value down = b.op(Op::fmul, x, power_of_two(b, kType, -Constants::kScale));
  const Value nan = b.constant(kType, kShape.infinity() | kShape.quiet_bit());
  const Value zero = b.constant(kType, 0);
  const Value is_den = b.compare(Op::feq, x, den), is_num = b.compare(Op::feq, x, num);
  const Value den_exponent = biased_exponent(b, den), num_exponent = biased_exponent(b, num);

  const Value either_zero = b.lor(b.compare(Op::feq, den, zero), b.compare(Op::feq, num, zero));
  const Value far = b.compare(Op::sle, b.u32(Constants::kFar), b.sub(num_exponent, den_exponent));
  const Value den_denormal = b.compare(Op::ieq, den_exponent, b.u32(0));
  const Value den_size = b.op(Op::fabs, den), num_size = b.op(Op::fabs, num);
  // 1 / den is denormal: |den| > 2^(bias - 1), finite.
  const Value reciprocal_denormal = b.land(b.compare(Op::flt, power_of_two(b, kType, kShape.bias - 1), den_size),
                                           b.compare(Op::flt, den_size, b.constant(kType, kShape.infinity())));
  // num / den is denormal: |num| < |den| * 2^(1 - bias), with both sides moved to where nothing is lost.
  const int32_t half = (kShape.bias - 1) / 2;
  const Value den_moved = b.op(Op::fmul, den_size, power_of_two(b, kType, -half));
  auto num_moved = [&](int32_t by) { return b.op(Op::fmul, num_size, power_of_two(b, kType, by - half)); };
  const Value below_normal = b.compare(Op::flt, num_moved(kShape.bias - 1), den_moved);
  const Value above_zero =
      b.compare(Op::flt, den_moved, num_moved(kShape.bias + static_cast<int32_t>(kShape.mantissa)));
  const Value quotient_denormal = b.land(below_normal, above_zero);
  const Value tiny_numerator = b.compare(Op::ule, num_exponent, b.u32(Constants::kTinyNumerator));

  Value d = b.select(tiny_numerator, up, x);
  d = b.select(quotient_denormal, b.select(is_num, up, x), d);
  const Value both = b.land(reciprocal_denormal, quotient_denormal);
  d = b.select(reciprocal_denormal, b.select(both, b.select(is_den, down, x), down), d);
  d = b.select(den_denormal, up, d);
  d = b.select(far, b.select(is_den, up, x), d);
  result(b, i, b.select(either_zero, nan, d));
  const Value back = b.lor(far, b.land(b.lnot(den_denormal), quotient_denormal));
  mask_result(b, i.destination2, b.land(b.lnot(either_zero), back));
  return {};
}

// Fused multiply-add; where VCC says so, times 2^scale in the direction away from what source 2, the quotient so far,
// shows was scaled.
template <Type kType>
Outcome multiply_add_scaled(Builder& b, const Instruction& i) {
  const Value z = source(b, i, 2, kType);
  const Value d = ir::rounded_fma(b, source(b, i, 0, kType), source(b, i, 1, kType), z);
  const Value large = b.compare(Op::slt, b.u32(static_cast<uint32_t>(shape_of(kType).bias)), biased_exponent(b, z));
  const Value factor = b.select(large, power_of_two(b, kType, Division<kType>::kScale),
                                power_of_two(b, kType, -Division<kType>::kScale));
  result(b, i, b.select(b.mask(Builder::kVcc), ir::rounded_mul(b, d, factor), d));
  return {};
}

// Source 0: the quotient, source 1: the denominator, source 2: the numerator.
template <Type kType>
Outcome fix_up(Builder& b, const Instruction& i) {
  constexpr FloatShape kShape = shape_of(kType);
  constexpr Type kInteger = kShape.integer;
  const Value quotient = source(b, i, 0, kType), den = source(b, i, 1, kType), num = source(b, i, 2, kType);
  auto integer = [&](uint64_t bits) { return b.constant(kInteger, bits); };
  const Value den_bits = b.as(kInteger, den), num_bits = b.as(kInteger, num);
  const Value sign = b.land(b.lxor(den_bits, num_bits), integer(kShape.sign_bit()));
  const Value den_size = magnitude_bits(b, den), num_size = magnitude_bits(b, num);
  auto is = [&](Value v, uint64_t bits) { return b.compare(Op::ieq, v, integer(bits)); };
  const Value den_zero = is(den_size, 0), num_zero = is(num_size, 0);
  const Value den_infinite = is(den_size, kShape.infinity()), num_infinite = is(num_size, kShape.infinity());

  // The refinement of a quotient that overflows ends in NaN.
  const Value size = b.select(is_nan(b, quotient), integer(kShape.infinity()), magnitude_bits(b, quotient));
  Value d = b.lor(sign, size);
  const Value distance = b.sub(biased_exponent(b, num), biased_exponent(b, den));
  const Value under = b.compare(Op::slt, distance, b.u32(static_cast<uint32_t>(Division<kType>::kUnderflow)));
  d = b.select(under, sign, d);  // rounds to zero
  d = b.select(b.lor(den_infinite, num_zero), sign, d);
  d = b.select(b.lor(den_zero, num_infinite), b.lor(sign, integer(kShape.infinity())), d);
  const Value invalid = b.lor(b.land(den_zero, num_zero), b.land(den_infinite, num_infinite));
  d = b.select(invalid, integer(kShape.sign_bit() | kShape.infinity() | kShape.quiet_bit()), d);
  d = b.select(is_nan(b, den), b.lor(den_bits, integer(kShape.quiet_bit())), d);
  d = b.select(is_nan(b, num), b.lor(num_bits, integer(kShape.quiet_bit())), d);
  result(b, i, b.as(kType, d));
  return {};
}

}  // namespace

void add_vector_division(SemanticTable& t) {
  set(t, Opcode::v_div_scale_f32, scale<Type::f32>);
  set(t, Opcode::v_div_scale_f64, scale<Type::f64>);
  set(t, Opcode::v_div_fmas_f32, multiply_add_scaled<Type::f32>);
  set(t, Opcode::v_div_fmas_f64, multiply_add_scaled<Type::f64>);
  set(t, Opcode::v_div_fixup_f32, fix_up<Type::f32>);
  set(t, Opcode::v_div_fixup_f64, fix_up<Type::f64>);
  set(t, Opcode::v_div_fixup_f16, fix_up<Type::f16>);
}

}  // namespace orrery::shader::semantics
