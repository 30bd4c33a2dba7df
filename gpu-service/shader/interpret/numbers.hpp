// Number formats: 16-bit floats, denormal flushing, the hardware's minimum and maximum.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace orrery::shader::interpret {

// MODE register fields (hwreg 1): rounding of f32 and of f64/f16, denormals of f32 and of f64/f16, DX10_CLAMP, IEEE.
// Rounding: 0 nearest even, 1 +inf, 2 -inf, 3 zero. Denormals: bit 0 keep inputs, bit 1 keep outputs.
struct Mode {
  uint32_t bits;
  unsigned round32() const { return bits & 3; }
  unsigned round64() const { return bits >> 2 & 3; }
  unsigned denorm32() const { return bits >> 4 & 3; }
  unsigned denorm64() const { return bits >> 6 & 3; }
  bool dx10_clamp() const { return (bits >> 8 & 1) != 0; }
  bool ieee() const { return (bits >> 9 & 1) != 0; }
};

inline float flush(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return (bits & 0x7f800000) == 0 ? std::bit_cast<float>(bits & 0x80000000) : x;
}
inline double flush(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  return (bits & 0x7ff0000000000000) == 0 ? std::bit_cast<double>(bits & 0x8000000000000000) : x;
}
inline uint16_t flush_half(uint16_t x) { return (x & 0x7c00) == 0 ? x & 0x8000 : x; }

inline bool is_signaling(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return (bits & 0x7fffffff) > 0x7f800000 && (bits & 0x00400000) == 0;
}
inline bool is_signaling(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000 && (bits & 0x0008000000000000) == 0;
}
inline float quiet(float x) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) | 0x00400000); }
inline double quiet(double x) { return std::bit_cast<double>(std::bit_cast<uint64_t>(x) | 0x0008000000000000); }

// IEEE mode: a signaling NaN gives its quiet form. Otherwise a NaN loses against a number. -0 is below +0.
template <class T>
T minimum(T a, T b, bool ieee) {
  if (ieee && is_signaling(a)) return quiet(a);
  if (ieee && is_signaling(b)) return quiet(b);
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T maximum(T a, T b, bool ieee) {
  if (ieee && is_signaling(a)) return quiet(a);
  if (ieee && is_signaling(b)) return quiet(b);
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

float half_to_float(uint16_t half);
// Rounds once; denormal results are kept. Rounding as in MODE.
uint16_t half_from_double(double value, unsigned rounding);
// a * b + c of halves, rounded once.
uint16_t half_fma(uint16_t a, uint16_t b, uint16_t c, unsigned rounding);

// Sets the host's rounding for the life of the object; free when it is nearest even.
class Rounding {
 public:
  explicit Rounding(unsigned mode);
  ~Rounding();
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  int saved_ = -1;
};

}  // namespace orrery::shader::interpret
