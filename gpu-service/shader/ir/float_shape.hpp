// The bit layout of the float types (IEEE 754 binary16, binary32 and binary64).
#pragma once

#include <cstdint>

#include "gpu-service/shader/ir/value.hpp"

namespace orrery::shader::ir {

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

}  // namespace orrery::shader::ir
