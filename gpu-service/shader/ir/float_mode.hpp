// The MODE register as far as it changes values (ISA document, "MODE register"): rounding of f32 and of f64/f16 in bits
// 1:0 and 3:2, denormals of f32 and of f64/f16 in bits 5:4 and 7:6, DX10_CLAMP 8, IEEE 9.
#pragma once

#include <cstdint>

#include "gpu-service/shader/ir/value.hpp"

namespace orrery::shader::ir {

enum class Round : uint8_t { nearest_even, up, down, toward_zero };

struct FloatMode {
  uint32_t bits = 0xf0;  // denormals kept, to nearest even

  // What COMPUTE_PGM_RSRC1 starts a wave with: FLOAT_MODE 19:12, DX10_CLAMP 21, IEEE_MODE 23.
  static constexpr FloatMode of_rsrc1(uint32_t rsrc1) {
    return {(rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9};
  }
  constexpr Round round(Type type) const { return static_cast<Round>(bits >> (type == Type::f32 ? 0 : 2) & 3); }
  constexpr bool keeps_inputs(Type type) const { return (bits >> (type == Type::f32 ? 4 : 6) & 1) != 0; }
  constexpr bool keeps_results(Type type) const { return (bits >> (type == Type::f32 ? 5 : 7) & 1) != 0; }
  constexpr bool dx10_clamp() const { return (bits >> 8 & 1) != 0; }
  constexpr bool ieee() const { return (bits >> 9 & 1) != 0; }
  friend constexpr bool operator==(FloatMode, FloatMode) = default;
};

}  // namespace orrery::shader::ir
