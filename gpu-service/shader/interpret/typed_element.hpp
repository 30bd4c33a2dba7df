// Elements of a unified format (buffers and images): bytes to components and back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace orrery::shader::interpret {

enum class Numeric : uint8_t { unorm, snorm, uscaled, sscaled, uint, sint, floating };

struct ElementLayout {
  uint8_t components = 0;
  std::array<uint8_t, 4> bits{};  // of x, y, z, w; x in the lowest bits
  Numeric numeric = Numeric::uint;
  uint32_t bytes() const { return (bits[0] + bits[1] + bits[2] + bits[3]) / 8u; }
};

// Nothing for a reserved or compressed format.
std::optional<ElementLayout> element_layout(uint32_t unified_format);

// Components as a shader register holds them (float or integer bits); missing ones read 0, 0, 0, 1.
std::array<uint32_t, 4> unpack(const ElementLayout& layout, const std::array<uint32_t, 4>& memory);
// The element's bytes from component values. Values out of a format's range saturate; integers keep their low bits'
// range.
std::array<uint32_t, 4> pack(const ElementLayout& layout, const std::array<uint32_t, 4>& components);

// DST_SEL: which component, or constant, each result is. 12 bits.
std::array<uint32_t, 4> select(const ElementLayout& layout, const std::array<uint32_t, 4>& components,
                               uint32_t selectors);
// The inverse, for stores.
std::array<uint32_t, 4> unselect(const std::array<uint32_t, 4>& results, uint32_t selectors);

}  // namespace orrery::shader::interpret
