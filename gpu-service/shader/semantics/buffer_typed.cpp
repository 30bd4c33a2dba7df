// MTBUF, and MUBUF with format conversion: an element is in range whole or not at all. The format is the instruction's
// (known here) or the descriptor's (looked up where the program runs).
#include "gpu-service/shader/semantics/buffer_typed.hpp"

#include "gpu-service/shader/decode/buffer_format.hpp"
#include "gpu-service/shader/semantics/buffer_address.hpp"
#include "gpu-service/shader/semantics/load_to_lds.hpp"
#include "gpu-service/shader/semantics/small_float.hpp"
#include "gpu-service/shader/semantics/typed_element.hpp"

namespace orrery::shader::semantics {
namespace {

using Kind = MemoryShape::Kind;

// A 16-bit register half as its component, and back: floats are halves, integers the low bits.
Value from_half(Builder& b, const ElementFormat& format, Value half) {
  const Value u = b.land(half, b.u32(0xffff));
  const Value s = b.op(Op::bitfield_s, Type::u32, {half, b.u32(0), b.u32(16)});
  const Value is_signed = b.compare(Op::ieq, format.numeric, b.u32(static_cast<uint32_t>(Numeric::sint)));
  return b.select(is_integer(b, format), b.select(is_signed, s, u), half_to_float_bits(b, u));
}
Value to_half_register(Builder& b, const ElementFormat& format, Value v) {
  return b.select(is_integer(b, format), b.land(v, b.u32(0xffff)), float_bits_to_half(b, v));
}

void write_components(Builder& b, const Instruction& i, const MemoryShape& shape, const ElementFormat& format,
                      const std::array<Value, 4>& results) {
  auto reg = [&](uint32_t n) { return (i.destination.index + n) & 255u; };
  if (!shape.half) {
    for (uint32_t n = 0; n < shape.components; ++n) b.set_vgpr(reg(n), results[n]);
    return;
  }
  for (uint32_t n = 0; n < shape.components; n += 2) {
    const Value old = b.vgpr(reg(n / 2)), first = to_half_register(b, format, results[n]);
    Value low = first, high = b.land(old, b.u32(0xffff0000));
    if (shape.high) {
      low = b.land(old, b.u32(0xffff));
      high = b.shl(first, b.u32(16));
    } else if (n + 1 < shape.components) {
      high = b.shl(to_half_register(b, format, results[n + 1]), b.u32(16));
    }
    b.set_vgpr(reg(n / 2), b.lor(low, high));
  }
}

std::array<Value, 4> read_components(Builder& b, const Instruction& i, const MemoryShape& shape,
                                     const ElementFormat& format) {
  std::array<Value, 4> values;
  for (uint32_t n = 0; n < 4; ++n) {
    if (n >= shape.components) {
      values[n] = b.u32(0);
    } else if (!shape.half) {
      values[n] = b.vgpr((i.data.index + n) & 255u);
    } else {
      const Value v = b.vgpr((i.data.index + n / 2) & 255u);
      values[n] = from_half(b, format, n % 2 == 1 || shape.high ? b.lshr(v, b.u32(16)) : v);
    }
  }
  return values;
}

// Stride, format and selectors of a traced V# are the same for a whole dispatch, and seldom others in the next.
BufferAccess given_by_pipeline(Builder& b, BufferAccess access) {
  if (access.route != BufferAccess::Route::bound) return access;
  for (const uint32_t n : {1u, 3u})
    access.words[n] = b.op(Op::bound_word, Type::u32, {access.words[n]}, access.binding * 4 + n);
  return access;
}

}  // namespace

ir::Outcome typed_buffer(Builder& b, const Instruction& i) {
  const MemoryShape& shape = memory_shape(i.opcode);
  const bool fixed = i.format == Format::mtbuf;
  if (fixed && buffer_format_name(i.data_format).empty()) return refuse("reserved buffer format");
  const BufferAccess access = given_by_pipeline(b, buffer_access(b, i));
  if (access.route == BufferAccess::Route::lost)
    return refuse("private memory through a descriptor that is not traced");
  if (access.route == BufferAccess::Route::scratch) return refuse("typed access to private memory");
  if (i.tfe && shape.kind != Kind::load) return refuse("TFE of a store");
  const ElementFormat format = fixed ? element_format(b, i.data_format) : element_format(b, access.format(b));
  const Value alignment = b.op(Op::umax, b.op(Op::umin, format.bytes, b.u32(4)), b.u32(1));
  ElementPlace element{.coherent = i.glc || i.dlc || i.slc, .instruction = i.offset};
  for (uint32_t n = 0; n < 4; ++n) {
    // Later dwords may lie elsewhere in a swizzled buffer; whether the element is inside was found with the first.
    const Place place = buffer_place(b, access, n * 4, n == 0 ? format.bytes : b.u32(1), alignment);
    element.address[n] = place.address;
    if (n > 0) continue;
    element.space = place.space;
    element.binding = place.binding;
    element.lanes = b.land(place.lanes, b.compare(Op::ine, format.bytes, b.u32(0)));
  }
  const Value selectors = access.selectors(b);
  if (shape.kind == Kind::store) {
    const auto values = read_components(b, i, shape, format);
    store_element(b, format, element, pack(b, format, unselect_components(b, values, selectors)));
    return {};
  }
  const auto components = unpack(b, format, load_element(b, format, element));
  auto results = select_components(b, format, components, selectors);
  // Out of range: 0, but a constant 1 stays 1.
  const std::array<Value, 4> zeros{b.u32(0), b.u32(0), b.u32(0), b.u32(0)};
  const auto outside = select_components(b, format, zeros, selectors);
  for (uint32_t n = 0; n < 4; ++n) results[n] = b.select(element.lanes, results[n], outside[n]);
  if (i.lds) return load_to_lds(b, i, results[0], {});
  write_components(b, i, shape, format, results);
  if (i.tfe) {
    const uint32_t registers = shape.half ? (shape.components + 1u) / 2 : shape.components;
    b.set_vgpr((i.destination.index + registers) & 255u, b.u32(0));
  }
  return {};
}

}  // namespace orrery::shader::semantics
