#include "gpu-service/shader/interpret/typed_element.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "gpu-service/shader/decode/buffer_format.hpp"
#include "gpu-service/shader/interpret/numbers.hpp"

namespace orrery::shader::interpret {
namespace {

// Unsigned small floats of 10 and 11 bits: 5 bits of exponent, no sign.
float small_float(uint32_t bits, unsigned mantissa_bits) {
  const uint32_t half = bits << (10 - mantissa_bits);
  return half_to_float(static_cast<uint16_t>(half));
}
uint32_t to_small_float(float value, unsigned mantissa_bits) {
  if (std::isnan(value)) {
    return (1u << (5 + mantissa_bits)) - 1;
  }
  if (!(value > 0)) {
    return 0;
  }
  const unsigned drop = 10 - mantissa_bits;
  const uint32_t half = half_from_double(value, 3);
  return std::min(half, 0x7c00u) >> drop;
}

uint32_t field(const std::array<uint32_t, 4>& memory, unsigned at, unsigned bits) {
  const uint32_t word = memory[at / 32] >> (at % 32);
  return bits == 32 ? word : word & ((1u << bits) - 1);
}

uint32_t read_component(Numeric numeric, uint32_t raw, unsigned bits) {
  const auto as_signed = static_cast<int32_t>(raw << (32 - bits)) >> (32 - bits);
  const double unsigned_maximum = std::ldexp(1.0, static_cast<int>(bits)) - 1,
               signed_maximum = std::ldexp(1.0, static_cast<int>(bits) - 1) - 1;
  switch (numeric) {
    case Numeric::uint:
      return raw;
    case Numeric::sint:
      return static_cast<uint32_t>(as_signed);
    case Numeric::uscaled:
      return std::bit_cast<uint32_t>(static_cast<float>(raw));
    case Numeric::sscaled:
      return std::bit_cast<uint32_t>(static_cast<float>(as_signed));
    case Numeric::unorm:
      return std::bit_cast<uint32_t>(static_cast<float>(raw / unsigned_maximum));
    case Numeric::snorm:
      return std::bit_cast<uint32_t>(static_cast<float>(std::max(as_signed / signed_maximum, -1.0)));
    case Numeric::floating:
      switch (bits) {
        case 32:
          return raw;
        case 16:
          return std::bit_cast<uint32_t>(half_to_float(static_cast<uint16_t>(raw)));
        default:
          return std::bit_cast<uint32_t>(small_float(raw, bits - 5));
      }
  }
  return 0;
}

uint32_t write_component(Numeric numeric, uint32_t value, unsigned bits) {
  const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  const double unsigned_maximum = std::ldexp(1.0, static_cast<int>(bits)) - 1,
               signed_maximum = std::ldexp(1.0, static_cast<int>(bits) - 1) - 1;
  const double x = std::bit_cast<float>(value);
  const auto rounded = [](double v, double low, double high) {
    return static_cast<uint32_t>(static_cast<int64_t>(std::isnan(v) ? 0 : std::nearbyint(std::clamp(v, low, high))));
  };
  switch (numeric) {
    case Numeric::uint:
      return std::min(value, mask);
    case Numeric::sint:
      return static_cast<uint32_t>(std::clamp<int64_t>(static_cast<int32_t>(value),
                                                       static_cast<int64_t>(-signed_maximum - 1),
                                                       static_cast<int64_t>(signed_maximum))) &
             mask;
    case Numeric::uscaled:
      return rounded(std::trunc(x), 0, unsigned_maximum) & mask;
    case Numeric::sscaled:
      return rounded(std::trunc(x), -signed_maximum - 1, signed_maximum) & mask;
    case Numeric::unorm:
      return rounded(std::clamp(x, 0.0, 1.0) * unsigned_maximum, 0, unsigned_maximum) & mask;
    case Numeric::snorm:
      return rounded(std::clamp(x, -1.0, 1.0) * signed_maximum, -signed_maximum, signed_maximum) & mask;
    case Numeric::floating:
      switch (bits) {
        case 32:
          return value;
        case 16:
          return half_from_double(x, 0);
        default:
          return to_small_float(std::bit_cast<float>(value), bits - 5);
      }
  }
  return 0;
}

}  // namespace

std::optional<ElementLayout> element_layout(uint32_t unified_format) {
  std::string_view name = buffer_format_name(unified_format);
  constexpr std::string_view kPrefix = "BUF_FMT_";
  if (!name.starts_with(kPrefix) || name == "BUF_FMT_INVALID") {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  ElementLayout layout;
  while (!name.empty() && name[0] >= '0' && name[0] <= '9') {
    unsigned bits = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), bits);
    name.remove_prefix(static_cast<size_t>(parsed.ptr - name.data()) + 1);
    layout.bits[layout.components++] = static_cast<uint8_t>(bits);
  }
  // Names go from the highest bits to the lowest, components the other way.
  std::reverse(layout.bits.begin(), layout.bits.begin() + layout.components);
  constexpr std::pair<std::string_view, Numeric> kNumerics[] = {
      {"UNORM", Numeric::unorm},     {"SNORM", Numeric::snorm}, {"USCALED", Numeric::uscaled},
      {"SSCALED", Numeric::sscaled}, {"UINT", Numeric::uint},   {"SINT", Numeric::sint},
      {"FLOAT", Numeric::floating}};
  for (const auto& [text, numeric] : kNumerics) {
    if (name == text) {
      layout.numeric = numeric;
      return layout;
    }
  }
  return std::nullopt;
}

std::array<uint32_t, 4> unpack(const ElementLayout& layout, const std::array<uint32_t, 4>& memory) {
  const bool integer = layout.numeric == Numeric::uint || layout.numeric == Numeric::sint;
  std::array<uint32_t, 4> components{0, 0, 0, integer ? 1u : std::bit_cast<uint32_t>(1.0f)};
  unsigned at = 0;
  for (unsigned i = 0; i < layout.components; ++i) {
    components[i] = read_component(layout.numeric, field(memory, at, layout.bits[i]), layout.bits[i]);
    at += layout.bits[i];
  }
  return components;
}

std::array<uint32_t, 4> pack(const ElementLayout& layout, const std::array<uint32_t, 4>& components) {
  std::array<uint32_t, 4> memory{};
  unsigned at = 0;
  for (unsigned i = 0; i < layout.components; ++i) {
    memory[at / 32] |= write_component(layout.numeric, components[i], layout.bits[i]) << (at % 32);
    at += layout.bits[i];
  }
  return memory;
}

std::array<uint32_t, 4> select(const ElementLayout& layout, const std::array<uint32_t, 4>& components,
                               uint32_t selectors) {
  const bool integer = layout.numeric == Numeric::uint || layout.numeric == Numeric::sint;
  std::array<uint32_t, 4> results{};
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t selector = selectors >> (3 * i) & 7;
    results[i] = selector >= 4   ? components[selector - 4]
                 : selector == 1 ? (integer ? 1u : std::bit_cast<uint32_t>(1.0f))
                                 : 0;
  }
  return results;
}

std::array<uint32_t, 4> unselect(const std::array<uint32_t, 4>& results, uint32_t selectors) {
  std::array<uint32_t, 4> components{};
  for (unsigned i = 4; i-- > 0;) {
    const uint32_t selector = selectors >> (3 * i) & 7;
    if (selector >= 4) {
      components[selector - 4] = results[i];
    }
  }
  return components;
}

}  // namespace orrery::shader::interpret
