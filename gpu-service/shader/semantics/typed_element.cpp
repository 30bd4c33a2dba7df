// Components from and to an element's bits. Everything is exact: one rounding, to nearest even, with operations that
// every device rounds correctly.
#include "gpu-service/shader/semantics/typed_element.hpp"

#include "gpu-service/shader/semantics/small_float.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr uint32_t kOne = 0x3f800000;

Value kind_is(Builder& b, const ElementFormat& format, Numeric numeric) {
  return b.compare(Op::ieq, format.numeric, b.u32(static_cast<uint32_t>(numeric)));
}
// snorm, sscaled, sint.
Value has_sign(Builder& b, const ElementFormat& format) {
  return b.compare(Op::ine, b.land(format.numeric, b.u32(1)), b.u32(0));
}
// unorm, snorm.
Value is_normalised(Builder& b, const ElementFormat& format) {
  return b.compare(Op::ult, format.numeric, b.u32(static_cast<uint32_t>(Numeric::uscaled)));
}
// Bits of the magnitude: one less for signed formats.
Value magnitude_width(Builder& b, const ElementFormat& format, Value bits) {
  return b.sub(bits, b.select(has_sign(b, format), b.u32(1), b.u32(0)));
}
Value low_bits(Builder& b, Value bits) { return b.lshr(b.u32(~0u), b.land(b.sub(b.u32(0), bits), b.u32(31))); }
// f32 2^n, n within the normal range.
Value power(Builder& b, Value n) { return b.as(Type::f32, b.shl(b.add(n, b.u32(127)), b.u32(23))); }

// 1 / (2^width - 1) - 2^-width. A number of that many bits times this plus the number times 2^-width is the quotient,
// rounded correctly (tried for every number of every width).
Value rest_of_reciprocal(Builder& b, Value width) {
  constexpr std::pair<uint32_t, uint32_t> kRest[] = {{1, 0x3f000000},  {2, 0x3daaaaab},  {7, 0x38810204},
                                                     {8, 0x37808081},  {9, 0x36804020},  {10, 0x35802008},
                                                     {11, 0x34801002}, {15, 0x30800100}, {16, 0x2f800080}};
  Value rest = b.u32(0);
  for (const auto& [bits, value] : kRest) rest = b.select(b.compare(Op::ieq, width, b.u32(bits)), b.u32(value), rest);
  return b.as(Type::f32, rest);
}

// The component's dword of the element; component c can lie in dwords 0, 1 and c only.
Value dword_of(Builder& b, const ElementFormat::Component& component, uint32_t c, const std::array<Value, 4>& dwords) {
  Value dword = dwords[0];
  const Value index = b.lshr(component.position, b.u32(5));
  for (uint32_t n = 1; n <= c; ++n) dword = b.select(b.compare(Op::ieq, index, b.u32(n)), dwords[n], dword);
  return dword;
}

Value unpack_component(Builder& b, const ElementFormat& format, Value field_u, Value field_s, Value bits) {
  const Value sign = has_sign(b, format);
  const Value number = b.select(sign, b.op(Op::s_to_f, Type::f32, {field_s}), b.op(Op::u_to_f, Type::f32, {field_u}));
  const Value width = magnitude_width(b, format, bits);
  const Value scaled = b.op(Op::fadd, b.op(Op::fmul, number, power(b, b.sub(b.u32(0), width))),
                            b.op(Op::fmul, number, rest_of_reciprocal(b, width)));
  const Value normalised = b.op(Op::fmax, scaled, b.f32(-1));
  const Value fixed = b.select(is_normalised(b, format), normalised, number);
  // Narrow floats have a half's exponent and fewer bits of mantissa.
  const Value wide = b.compare(Op::ieq, bits, b.u32(32));
  const Value missing = b.select(b.compare(Op::ieq, bits, b.u32(16)), b.u32(0), b.sub(b.u32(15), bits));
  const Value half = b.shl(field_u, b.land(missing, b.u32(31)));
  const Value real = b.select(wide, field_u, half_to_float_bits(b, half));
  const Value integer = b.select(sign, field_s, field_u);
  return b.select(is_integer(b, format), integer,
                  b.select(kind_is(b, format, Numeric::floating), real, b.as(Type::u32, fixed)));
}

// The integer nearest to x * (2^width - 1), ties to even: x * 2^width is exact, and x less is compared exactly with the
// halfway points.
Value normalised_integer(Builder& b, const ElementFormat& format, Value x, Value width) {
  const Value zero = b.f32(0), sign = has_sign(b, format);
  const Value negative = b.compare(Op::flt, x, zero);
  const Value number = b.select(b.compare(Op::fune, x, x), zero, x);
  const Value size = b.op(Op::fmin, b.op(Op::fabs, number), b.f32(1));
  const Value a = b.select(b.land(negative, b.lnot(sign)), zero, size);
  const Value product = b.op(Op::fmul, a, power(b, width));
  const Value floor = b.op(Op::ffloor, product);
  const Value fraction = b.op(Op::fsub, product, floor);
  const Value low = b.op(Op::fsub, fraction, b.f32(0.5f)), high = b.op(Op::fadd, fraction, b.f32(0.5f));
  const Value whole = b.op(Op::f_to_u, Type::u32, {floor});
  const Value odd = b.compare(Op::ine, b.land(whole, b.u32(1)), b.u32(0));
  auto beyond = [&](Value x1, Value x2) {
    return b.lor(b.compare(Op::flt, x1, x2), b.land(odd, b.compare(Op::feq, x1, x2)));
  };
  const Value up = b.select(beyond(a, low), b.u32(1), b.u32(0));
  const Value down = b.select(beyond(high, a), b.u32(1), b.u32(0));
  const Value rounded = b.sub(b.add(whole, up), down);
  return b.select(b.land(negative, sign), b.sub(b.u32(0), rounded), rounded);
}

Value pack_component(Builder& b, const ElementFormat& format, Value value, Value bits) {
  const Value sign = has_sign(b, format), width = magnitude_width(b, format, bits);
  const Value x = b.as(Type::f32, value);
  const Value largest = low_bits(b, width), smallest = b.select(sign, b.lnot(largest), b.u32(0));
  // Integers.
  const Value of_signed = b.op(Op::smin, b.op(Op::smax, value, smallest), largest);
  const Value integer = b.select(sign, of_signed, b.op(Op::umin, value, largest));
  // Scaled ones have at most 16 bits.
  const Value cut = b.op(Op::ftrunc, b.select(b.compare(Op::fune, x, x), b.f32(0), x));
  const Value top = b.op(Op::s_to_f, Type::f32, {b.land(largest, b.u32(0xffff))});
  const Value bottom = b.op(Op::s_to_f, Type::f32, {b.lor(smallest, b.select(sign, b.u32(0xffff0000), b.u32(0)))});
  const Value scaled = b.op(Op::f_to_s, Type::u32, {b.op(Op::fmin, b.op(Op::fmax, cut, bottom), top)});
  const Value fixed = b.select(is_normalised(b, format), normalised_integer(b, format, x, width), scaled);
  const Value small = float_bits_to_small(b, value, b.sub(b.op(Op::umin, bits, b.u32(15)), b.u32(5)));
  const Value real = b.select(b.compare(Op::ieq, bits, b.u32(32)), value,
                              b.select(b.compare(Op::ieq, bits, b.u32(16)), float_bits_to_half(b, value), small));
  return b.select(is_integer(b, format), integer, b.select(kind_is(b, format, Numeric::floating), real, fixed));
}

}  // namespace

std::array<Value, 4> unpack(Builder& b, const ElementFormat& format, const std::array<Value, 4>& dwords) {
  const Value one = b.select(is_integer(b, format), b.u32(1), b.u32(kOne));
  std::array<Value, 4> components;
  for (uint32_t c = 0; c < 4; ++c) {
    const auto& component = format.components[c];
    const Value dword = dword_of(b, component, c, dwords);
    const Value offset = b.land(component.position, b.u32(31));
    const Value u = b.op(Op::bitfield_u, Type::u32, {dword, offset, component.bits});
    const Value s = b.op(Op::bitfield_s, Type::u32, {dword, offset, component.bits});
    const Value absent = b.compare(Op::ieq, component.bits, b.u32(0));
    components[c] = b.select(absent, c == 3 ? one : b.u32(0), unpack_component(b, format, u, s, component.bits));
  }
  return components;
}

std::array<Value, 4> pack(Builder& b, const ElementFormat& format, const std::array<Value, 4>& components) {
  std::array<Value, 4> dwords{b.u32(0), b.u32(0), b.u32(0), b.u32(0)};
  for (uint32_t c = 0; c < 4; ++c) {
    const auto& component = format.components[c];
    const Value index = b.lshr(component.position, b.u32(5));
    const Value absent = b.compare(Op::ieq, component.bits, b.u32(0));
    const Value field = b.land(pack_component(b, format, components[c], component.bits), low_bits(b, component.bits));
    const Value placed = b.select(absent, b.u32(0), b.shl(field, b.land(component.position, b.u32(31))));
    for (uint32_t n = 0; n <= c; ++n) {
      dwords[n] = b.lor(dwords[n], b.select(b.compare(Op::ieq, index, b.u32(n)), placed, b.u32(0)));
    }
  }
  return dwords;
}

std::array<Value, 4> select_components(Builder& b, const ElementFormat& format, const std::array<Value, 4>& components,
                                       Value selectors) {
  const Value one = b.select(is_integer(b, format), b.u32(1), b.u32(kOne));
  std::array<Value, 4> results;
  for (uint32_t n = 0; n < 4; ++n) {
    const Value selector = b.op(Op::bitfield_u, Type::u32, {selectors, b.u32(3 * n), b.u32(3)});
    auto is = [&](uint32_t v) { return b.compare(Op::ieq, selector, b.u32(v)); };
    results[n] = b.select(is(1), one, b.u32(0));
    for (uint32_t c = 0; c < 4; ++c) results[n] = b.select(is(4 + c), components[c], results[n]);
  }
  return results;
}

std::array<Value, 4> unselect_components(Builder& b, const std::array<Value, 4>& results, Value selectors) {
  std::array<Value, 4> components;
  for (uint32_t c = 0; c < 4; ++c) {
    components[c] = b.u32(0);
    // The first result that is this component.
    for (uint32_t n = 4; n-- > 0;) {
      const Value selector = b.op(Op::bitfield_u, Type::u32, {selectors, b.u32(3 * n), b.u32(3)});
      components[c] = b.select(b.compare(Op::ieq, selector, b.u32(4 + c)), results[n], components[c]);
    }
  }
  return components;
}

namespace {

ir::Access access_of(const ElementPlace& place, uint8_t bytes, uint32_t dword = 0) {
  return {.space = place.space,
          .bytes = bytes,
          .coherent = place.coherent,
          .binding = place.binding,
          .offset = place.address[dword] ? 0 : static_cast<int32_t>(dword * 4),
          .instruction = place.instruction};
}

Value address_of(const ElementPlace& place, uint32_t dword) {
  return place.address[dword] ? place.address[dword] : place.address[0];
}

// Calls use(access, lanes, dword) for every piece that an element of this format may have: a byte, a half,
// dwords.
template <class Use>
void each_piece(Builder& b, const ElementFormat& format, const ElementPlace& place, Use use) {
  auto piece = [&](uint8_t bytes, uint32_t dword, Value condition) {
    const Value lanes = b.land(place.lanes, condition);
    if (b.is_false(lanes)) return;
    use(access_of(place, bytes, dword), lanes, dword);
  };
  piece(1, 0, b.compare(Op::ieq, format.bytes, b.u32(1)));
  piece(2, 0, b.compare(Op::ieq, format.bytes, b.u32(2)));
  for (uint32_t n = 0; n < 4; ++n) piece(4, n, b.compare(Op::ult, b.u32(4 * n + 3), format.bytes));
}

}  // namespace

std::array<Value, 4> load_element(Builder& b, const ElementFormat& format, const ElementPlace& place) {
  std::array<Value, 4> dwords{b.u32(0), b.u32(0), b.u32(0), b.u32(0)};
  each_piece(b, format, place, [&](const ir::Access& access, Value lanes, uint32_t n) {
    // A load gives 0 where it is not done.
    dwords[n] = b.lor(dwords[n], b.load(access, lanes, address_of(place, n))[0]);
  });
  return dwords;
}

void store_element(Builder& b, const ElementFormat& format, const ElementPlace& place,
                   const std::array<Value, 4>& dwords) {
  each_piece(b, format, place, [&](const ir::Access& access, Value lanes, uint32_t n) {
    b.store(access, lanes, address_of(place, n), std::span(&dwords[n], 1));
  });
}

}  // namespace orrery::shader::semantics
