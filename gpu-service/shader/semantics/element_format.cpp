// What a unified format number says.
#include "gpu-service/shader/semantics/typed_element.hpp"

namespace orrery::shader::semantics {
namespace {

// Formats of one layout follow each other: unorm, snorm, uscaled, sscaled, uint, sint and perhaps float, or uint, sint,
// float where components have 32 bits. Bits from x on; names go from the highest component down.
struct Group {
  uint32_t first;
  std::array<uint32_t, 4> bits;
};
constexpr Group kGroups[] = {
    {0, {}},
    {1, {8}},
    {7, {16}},
    {14, {8, 8}},
    {20, {32}},
    {23, {16, 16}},
    {30, {11, 11, 10}},
    {37, {10, 11, 11}},
    {44, {2, 10, 10, 10}},
    {50, {10, 10, 10, 2}},
    {56, {8, 8, 8, 8}},
    {62, {32, 32}},
    {65, {16, 16, 16, 16}},
    {72, {32, 32, 32}},
    {75, {32, 32, 32, 32}},
    {78, {}},
};

// Six bits for each component's width; then how far a format number is above its Numeric, modulo 256.
uint32_t packed(const Group& g) {
  uint32_t word = 0;
  for (uint32_t c = 0; c < 4; ++c) word |= g.bits[c] << (6 * c);
  const uint32_t numeric = g.bits[0] == 32 ? static_cast<uint32_t>(Numeric::uint) : 0;
  return word | ((g.first - numeric) & 255) << 24;
}

ElementFormat from_parts(Builder& b, const std::array<Value, 4>& bits, Value numeric) {
  ElementFormat format;
  Value sum = b.u32(0);
  for (uint32_t c = 0; c < 4; ++c) {
    format.components[c] = {bits[c], sum};
    sum = b.add(sum, bits[c]);
  }
  format.numeric = numeric;
  format.bytes = b.lshr(sum, b.u32(3));
  return format;
}

}  // namespace

ElementFormat element_format(Builder& b, std::array<uint32_t, 4> bits, Numeric numeric) {
  std::array<Value, 4> values;
  for (uint32_t c = 0; c < 4; ++c) values[c] = b.u32(bits[c]);
  return from_parts(b, values, b.u32(static_cast<uint32_t>(numeric)));
}

ElementFormat element_format(Builder& b, uint32_t unified) { return element_format(b, b.u32(unified)); }

ElementFormat element_format(Builder& b, Value unified) {
  Value word = b.u32(0);
  for (const Group& g : kGroups) {
    if (g.first == 0) continue;
    word = b.select(b.compare(Op::ult, unified, b.u32(g.first)), word, b.u32(packed(g)));
  }
  std::array<Value, 4> bits;
  for (uint32_t c = 0; c < 4; ++c) bits[c] = b.op(Op::bitfield_u, Type::u32, {word, b.u32(6 * c), b.u32(6)});
  const Value numeric = b.land(b.sub(unified, b.lshr(word, b.u32(24))), b.u32(7));
  return from_parts(b, bits, b.select(b.compare(Op::ieq, bits[0], b.u32(0)), b.u32(0), numeric));
}

Value is_integer(Builder& b, const ElementFormat& format) {
  return b.compare(Op::ieq, b.land(format.numeric, b.u32(6)), b.u32(static_cast<uint32_t>(Numeric::uint)));
}

}  // namespace orrery::shader::semantics
