#include "gpu-service/shader/interpret/numbers.hpp"

#include <cfenv>

namespace orrery::shader::interpret {

float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = half >> 10 & 31, mantissa = half & 0x3ffu;
  if (exponent == 31) {
    return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  }
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t half_from_double(double value, unsigned rounding) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const uint64_t magnitude = bits & 0x7fffffffffffffff;
  if (magnitude > 0x7ff0000000000000) {
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 42 & 0x3ff));
  }
  if (magnitude == 0x7ff0000000000000) {
    return sign | 0x7c00;
  }
  if (magnitude == 0) {
    return sign;
  }
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  // Dropped bits: 42 for a normal result, more for a denormal one.
  const int shift = exponent >= -14 ? 42 : 42 + (-14 - exponent);
  const uint64_t significand = (magnitude & 0xfffffffffffff) | (magnitude >> 52 != 0 ? 1ull << 52 : 0);
  uint64_t kept = 0, rest = 1, half = 2;
  if (shift < 64) {
    kept = significand >> shift;
    rest = significand & ((1ull << shift) - 1);
    half = 1ull << (shift - 1);
  }
  const bool negative = sign != 0;
  bool up = false;
  switch (rounding) {
    case 0:
      up = rest > half || (rest == half && (kept & 1) != 0);
      break;
    case 1:
      up = rest != 0 && !negative;
      break;
    case 2:
      up = rest != 0 && negative;
      break;
    default:
      break;
  }
  kept += up ? 1 : 0;
  // Normal: the implicit bit adds one to the exponent field. A carry out of the significand does the same.
  const int64_t field = exponent >= -14 ? (int64_t{exponent} + 14) << 10 : 0;
  const int64_t result = field + static_cast<int64_t>(kept);
  if (result >= 0x7c00) {
    const bool to_infinity = rounding == 0 || (rounding == 1 && !negative) || (rounding == 2 && negative);
    return static_cast<uint16_t>(sign | (to_infinity ? 0x7c00 : 0x7bff));
  }
  return static_cast<uint16_t>(sign | result);
}

uint16_t half_fma(uint16_t a, uint16_t b, uint16_t c, unsigned rounding) {
  const double product = double{half_to_float(a)} * double{half_to_float(b)};  // exact
  const double addend = half_to_float(c);
  double sum = product + addend;
  if (std::isfinite(sum) && std::isfinite(product) && std::isfinite(addend)) {
    // Round to odd, so that the second rounding cannot see a false tie.
    const double other = sum - product;
    const double error = (product - (sum - other)) + (addend - other);
    if (error != 0 && (std::bit_cast<uint64_t>(sum) & 1) == 0) {
      sum = std::nextafter(
          sum, error > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
    }
    if (sum == 0 && error == 0 && rounding == 2 && (std::signbit(product) || std::signbit(addend))) {
      return 0x8000;  // an exact zero is -0 when rounding down, unless both are +0
    }
  }
  return half_from_double(sum, rounding);
}

Rounding::Rounding(unsigned mode) {
  if (mode != 0) {
    constexpr int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    saved_ = std::fegetround();
    std::fesetround(kModes[mode & 3]);
  }
}

Rounding::~Rounding() {
  if (saved_ >= 0) {
    std::fesetround(saved_);
  }
}

}  // namespace orrery::shader::interpret
