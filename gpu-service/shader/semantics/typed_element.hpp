// Elements of a unified format (buffers and images): dwords to components and back, as IR. A format known when the
// program is translated is constants, which fold; one that a descriptor names at run time is looked up from its number.
#pragma once

#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {

enum class Numeric : uint8_t { unorm, snorm, uscaled, sscaled, uint, sint, floating };

struct ElementFormat {
  struct Component {
    Value bits;      // u32: 2, 8, 10, 11, 16, 32; 0: absent
    Value position;  // u32: of its lowest bit in the element; no component crosses a dword
  };
  std::array<Component, 4> components;  // x, y, z, w
  Value numeric;                        // u32: Numeric
  Value bytes;                          // u32: 1, 2, 4, 8, 12, 16; 0: not a format, loads give 0 and stores do nothing
};

// Of the FORMAT field of MTBUF or a V#; all numbers have one, reserved ones with 0 bytes.
ElementFormat element_format(Builder& b, uint32_t unified);
ElementFormat element_format(Builder& b, Value unified);
// From its parts; `bits` from x on, x in the lowest bits.
ElementFormat element_format(Builder& b, std::array<uint32_t, 4> bits, Numeric numeric);

Value is_integer(Builder& b, const ElementFormat& format);

// An element's dwords, zeros behind it, to what registers hold (float or integer bits, u32); absent components are 0,
// 0, 0, 1.
std::array<Value, 4> unpack(Builder& b, const ElementFormat& format, const std::array<Value, 4>& dwords);
// And back. Values out of a format's range saturate, NaN becomes 0 in formats without one; what is no component is 0.
std::array<Value, 4> pack(Builder& b, const ElementFormat& format, const std::array<Value, 4>& components);

// DST_SEL (12 bits, u32) of a descriptor: which component or constant each result is; and which result each component
// is.
std::array<Value, 4> select_components(Builder& b, const ElementFormat& format, const std::array<Value, 4>& components,
                                       Value selectors);
std::array<Value, 4> unselect_components(Builder& b, const std::array<Value, 4>& results, Value selectors);

// Where an element lies. Space::guest: u64 addresses; Space::buffer: u32 offsets. Multiples of the element's size, or
// of 4 where that is more.
struct ElementPlace {
  ir::Space space = ir::Space::guest;
  Value lanes = {};
  std::array<Value, 4> address = {};  // of each dword; where only the first is given, the others follow it
  uint32_t binding = 0;
  bool coherent = false;
  uint32_t instruction = 0;
};
// Only the element's own bytes are touched; lanes that do not take part get zeros.
std::array<Value, 4> load_element(Builder& b, const ElementFormat& format, const ElementPlace& place);
void store_element(Builder& b, const ElementFormat& format, const ElementPlace& place,
                   const std::array<Value, 4>& dwords);

}  // namespace orrery::shader::semantics
