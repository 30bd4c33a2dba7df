// Component values to and from VGPRs: one per dword, or two halves per dword (d16); high: one, in the high half.
#pragma once

#include "gpu-service/shader/interpret/lanes.hpp"
#include "gpu-service/shader/interpret/typed_element.hpp"

namespace orrery::shader::interpret {

inline bool is_integer(Numeric numeric) { return numeric == Numeric::uint || numeric == Numeric::sint; }

inline void write_components(Wave& wave, uint32_t vgpr, uint32_t lane, std::span<const uint32_t> values, bool d16,
                             Numeric numeric, bool high = false) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!d16) {
      wave.row(vgpr + static_cast<uint32_t>(i))[lane] = values[i];
      continue;
    }
    const uint32_t half =
        is_integer(numeric) ? values[i] & 0xffff : half_from_double(std::bit_cast<float>(values[i]), 0);
    uint32_t& reg = wave.row(vgpr + static_cast<uint32_t>(i / 2))[lane];
    reg = i % 2 == 0 && !high ? (reg & 0xffff0000u) | half : (reg & 0xffffu) | half << 16;
  }
}

inline std::array<uint32_t, 4> read_components(Wave& wave, uint32_t vgpr, uint32_t lane, unsigned count, bool d16,
                                               Numeric numeric, bool high = false) {
  std::array<uint32_t, 4> values{};
  for (unsigned i = 0; i < count; ++i) {
    if (!d16) {
      values[i] = wave.row(vgpr + i)[lane];
      continue;
    }
    const auto half = static_cast<uint16_t>(wave.row(vgpr + i / 2)[lane] >> (high ? 16 : 16 * (i % 2)));
    values[i] = numeric == Numeric::sint   ? static_cast<uint32_t>(static_cast<int16_t>(half))
                : numeric == Numeric::uint ? half
                                           : std::bit_cast<uint32_t>(half_to_float(half));
  }
  return values;
}

}  // namespace orrery::shader::interpret
