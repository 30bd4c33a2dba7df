// Functions shared by the float families: T is float or double.
#pragma once

#include <algorithm>

#include "gpu-service/shader/interpret/numbers.hpp"

namespace orrery::shader::interpret {

template <class T>
T median(T a, T b, T c, bool ieee) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) {
    return minimum(minimum(a, b, ieee), c, ieee);
  }
  return maximum(minimum(a, b, ieee), minimum(maximum(a, b, ieee), c, ieee), ieee);
}

// Below 1 also where the subtraction rounds up to it.
template <class T>
T fraction(T x) {
  const T result = x - std::floor(x);
  return result >= T(1) ? std::nextafter(T(1), T(0)) : result;
}

template <class T>
T mantissa(T x) {
  int exponent = 0;
  return std::isfinite(x) ? std::frexp(x, &exponent) : x;
}
template <class T>
uint32_t exponent(T x) {
  int exponent = 0;
  if (std::isfinite(x)) {
    std::frexp(x, &exponent);
  }
  return static_cast<uint32_t>(exponent);
}

// Biased exponent field.
inline int field(float x) { return static_cast<int>(std::bit_cast<uint32_t>(x) >> 23 & 0xff); }
inline int field(double x) { return static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7ff); }
template <class T>
bool is_denormal(T x) {
  return x != 0 && field(x) == 0;
}

// v_div_scale: brings numerator and denominator into a range where the refinement neither overflows nor underflows.
// Gives the scaled S0 and whether the quotient has to be scaled back. ISA document, V_DIV_SCALE_F32 / F64.
template <class T>
T division_scale(T s0, T denominator, T numerator, bool& scaled) {
  constexpr bool kDouble = sizeof(T) == 8;
  constexpr int kFar = kDouble ? 768 : 96, kScale = kDouble ? 128 : 64, kTiny = kDouble ? 53 : 23;
  scaled = false;
  if (numerator == 0 || denominator == 0) {
    return std::numeric_limits<T>::quiet_NaN();
  }
  if (field(numerator) - field(denominator) >= kFar) {
    scaled = true;
    return s0 == denominator ? std::ldexp(s0, kScale) : s0;
  }
  if (is_denormal(denominator)) {
    return std::ldexp(s0, kScale);
  }
  const bool inverse_denormal = is_denormal(T(1) / denominator),
             quotient_denormal = is_denormal(numerator / denominator);
  if (inverse_denormal && quotient_denormal) {
    // The document scales up here, which would overflow: a denominator with a denormal inverse is near the top.
    scaled = true;
    return s0 == denominator ? std::ldexp(s0, -kScale) : s0;
  }
  if (inverse_denormal) {
    return std::ldexp(s0, -kScale);
  }
  if (quotient_denormal) {
    scaled = true;
    return s0 == numerator ? std::ldexp(s0, kScale) : s0;
  }
  return field(numerator) <= kTiny ? std::ldexp(s0, kScale) : s0;
}

// v_div_fmas: undoes the scaling, up or down as the estimate (S2) says.
template <class T>
T division_fma(T a, T b, T c, bool scaled) {
  constexpr bool kDouble = sizeof(T) == 8;
  const T result = std::fma(a, b, c);
  if (!scaled) {
    return result;
  }
  const bool up = field(c) > (kDouble ? 1023 : 127);
  return std::ldexp(result, (kDouble ? 128 : 64) * (up ? 1 : -1));
}

// v_div_fixup: special operands of a division.
template <class T>
T division_fixup(T quotient, T denominator, T numerator) {
  constexpr bool kDouble = sizeof(T) == 8;
  constexpr int kUnderflow = kDouble ? -1075 : -150;
  const bool negative = std::signbit(denominator) != std::signbit(numerator);
  const auto with_sign = [&](T value) { return std::copysign(value, negative ? T(-1) : T(1)); };
  if (std::isnan(numerator)) return quiet(numerator);
  if (std::isnan(denominator)) return quiet(denominator);
  if ((denominator == 0 && numerator == 0) || (std::isinf(denominator) && std::isinf(numerator))) {
    return -std::numeric_limits<T>::quiet_NaN();
  }
  if (denominator == 0 || std::isinf(numerator)) return with_sign(std::numeric_limits<T>::infinity());
  if (std::isinf(denominator) || numerator == 0) return with_sign(T(0));
  if (field(numerator) - field(denominator) < kUnderflow) return with_sign(T(0));
  // The refinement of a quotient that overflows meets infinities and ends in NaN.
  if (std::isnan(quotient)) return with_sign(std::numeric_limits<T>::infinity());
  return with_sign(std::fabs(quotient));
}

// Input in revolutions.
inline double sine(double revolutions) {
  return std::isfinite(revolutions) ? std::sin((revolutions - std::floor(revolutions)) * 6.283185307179586476925)
                                    : std::nan("");
}
inline double cosine(double revolutions) {
  return std::isfinite(revolutions) ? std::cos((revolutions - std::floor(revolutions)) * 6.283185307179586476925)
                                    : std::nan("");
}

}  // namespace orrery::shader::interpret
