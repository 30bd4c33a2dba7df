// The bit layout of the float types, and operations on it.
#pragma once

#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {

struct FloatShape {
  Type integer;       // of the same width
  uint32_t mantissa;  // stored bits
  uint32_t exponent;  // bits
  int32_t bias;

  constexpr uint32_t bits() const { return mantissa + exponent + 1; }
  constexpr uint64_t sign_bit() const { return 1ull << (bits() - 1); }
  constexpr uint64_t mantissa_mask() const { return (1ull << mantissa) - 1; }
  constexpr uint64_t largest_exponent() const { return (1ull << exponent) - 1; }
  constexpr uint64_t infinity() const { return largest_exponent() << mantissa; }
  constexpr uint64_t quiet_bit() const { return 1ull << (mantissa - 1); }
  constexpr uint64_t smallest_normal() const { return 1ull << mantissa; }
  // 2^n, n within the normal range.
  constexpr uint64_t power_of_two(int32_t n) const { return static_cast<uint64_t>(bias + n) << mantissa; }
};

constexpr FloatShape shape_of(Type type) {
  switch (type) {
    case Type::f16:
      return {Type::u16, 10, 5, 15};
    case Type::f64:
      return {Type::u64, 52, 11, 1023};
    default:
      return {Type::u32, 23, 8, 127};
  }
}

inline Value power_of_two(Builder& b, Type type, int32_t n) { return b.constant(type, shape_of(type).power_of_two(n)); }
inline Value is_nan(Builder& b, Value v) { return b.compare(Op::fune, v, v); }

// Bits without the sign, as an integer.
Value magnitude_bits(Builder& b, Value v);
// The biased exponent, u32.
Value biased_exponent(Builder& b, Value v);
Value is_signaling(Builder& b, Value v);
Value quieted(Builder& b, Value v);
// The lesser (greater) one; the number where the other is NaN; -0 is less than +0. In IEEE mode a signaling NaN gives
// its quiet form.
Value float_min(Builder& b, Value x, Value y);
Value float_max(Builder& b, Value x, Value y);
// v * 2^n with one rounding, MODE's, n any signed u32.
Value scale_by_power(Builder& b, Value v, Value n);

}  // namespace orrery::shader::semantics
