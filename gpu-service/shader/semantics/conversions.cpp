// Conversions between numbers. To integers they round toward zero and saturate; NaN becomes 0.
#include "gpu-service/shader/ir/rounding.hpp"
#include "gpu-service/shader/semantics/conversion.hpp"
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr Type kU32 = Type::u32, kF32 = Type::f32;

template <Type kFrom, Type kTo>
Outcome between_floats(Builder& b, const Instruction& i) {
  result(b, i, ir::rounded_convert(b, source(b, i, 0, kFrom), kTo));
  return {};
}

template <Op kOp, Type kTo>
Outcome from_integer(Builder& b, const Instruction& i) {
  result(b, i, ir::rounded_from_integer(b, source(b, i, 0, kU32), kTo, kOp == Op::s_to_f));
  return {};
}

template <bool kSigned>
Outcome from_short(Builder& b, const Instruction& i) {
  const Value v = source(b, i, 0, Type::u16);
  const Value wide = kSigned ? b.sext(kU32, v) : b.zext(kU32, v);
  result(b, i, ir::rounded_convert(b, b.op(kSigned ? Op::s_to_f : Op::u_to_f, kF32, {wide}), Type::f16));
  return {};
}

template <uint32_t kByte>
Outcome from_byte(Builder& b, const Instruction& i) {
  const Value byte = b.op(Op::bitfield_u, source(b, i, 0, kU32), b.u32(8 * kByte), b.u32(8));
  result(b, i, b.op(Op::u_to_f, kF32, {byte}));
  return {};
}

template <Type kFrom>
Outcome to_signed_32(Builder& b, const Instruction& i) {
  result(b, i, to_signed(b, source(b, i, 0, kFrom)));
  return {};
}
template <Type kFrom>
Outcome to_unsigned_32(Builder& b, const Instruction& i) {
  result(b, i, to_unsigned(b, source(b, i, 0, kFrom)));
  return {};
}

Value clamp_signed(Builder& b, Value v, int32_t low, int32_t high) {
  return b.op(Op::smin, b.op(Op::smax, v, b.u32(static_cast<uint32_t>(low))), b.u32(static_cast<uint32_t>(high)));
}

template <bool kSigned>
Outcome to_short(Builder& b, const Instruction& i) {
  const Value v = to_signed(b, b.op(Op::f_to_f, kF32, {source(b, i, 0, Type::f16)}));
  result(b, i, b.truncate(Type::u16, kSigned ? clamp_signed(b, v, -32768, 32767) : clamp_signed(b, v, 0, 65535)));
  return {};
}

Outcome round_down(Builder& b, const Instruction& i) {
  result(b, i, to_signed(b, b.op(Op::ffloor, source(b, i, 0, kF32))));
  return {};
}

// floor(x + 0.5) with an exact sum: x is compared, not added to.
Outcome round_half_up(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kF32), low = b.op(Op::ffloor, x);
  const Value up = b.compare(Op::fle, b.f32(0.5f), b.op(Op::fsub, x, low));
  result(b, i, to_signed(b, b.select(up, b.op(Op::fadd, low, b.f32(1)), low)));
  return {};
}

// The low four bits, signed, in sixteenths.
Outcome from_offset(Builder& b, const Instruction& i) {
  const Value v = b.op(Op::bitfield_s, source(b, i, 0, kU32), b.u32(0), b.u32(4));
  result(b, i, b.op(Op::fmul, b.op(Op::s_to_f, kF32, {v}), b.f32(0.0625f)));
  return {};
}

Value join(Builder& b, Value low, Value high) { return b.lor(b.land(low, b.u32(0xffff)), b.shl(high, b.u32(16))); }

Outcome pack_toward_zero(Builder& b, const Instruction& i) {
  auto half = [&](uint32_t n) { return b.zext(kU32, b.as(Type::u16, to_half_toward_zero(b, source(b, i, n, kF32)))); };
  const Value low = half(0);
  result(b, i, join(b, low, half(1)));
  return {};
}

template <bool kSigned>
Outcome pack_shorts(Builder& b, const Instruction& i) {
  auto part = [&](uint32_t n) {
    const Value v = source(b, i, n, kU32);
    return kSigned ? clamp_signed(b, v, -32768, 32767) : b.op(Op::umin, v, b.u32(0xffff));
  };
  const Value low = part(0);
  result(b, i, join(b, low, part(1)));
  return {};
}

// Normalised: [-1, 1] or [0, 1] onto the whole 16-bit range, to the nearest.
Value normalised(Builder& b, Value v, bool is_signed) {
  const Value scale = b.f32(is_signed ? 32767.0f : 65535.0f);
  const Value cut = b.op(Op::fmin, b.op(Op::fmax, v, b.f32(is_signed ? -1.0f : 0.0f)), b.f32(1));
  const Value scaled = b.op(Op::frint, b.op(Op::fmul, b.select(b.compare(Op::fune, v, v), b.f32(0), cut), scale));
  return to_signed(b, scaled);
}

template <Type kFrom, bool kSigned>
Outcome pack_normalised(Builder& b, const Instruction& i) {
  auto part = [&](uint32_t n) {
    Value v = source(b, i, n, kFrom);
    if (kFrom == Type::f16) v = b.op(Op::f_to_f, kF32, {v});
    return normalised(b, v, kSigned);
  };
  const Value low = part(0);
  result(b, i, join(b, low, part(1)));
  return {};
}

template <bool kSigned>
Outcome normalise_half(Builder& b, const Instruction& i) {
  const Value v = b.op(Op::f_to_f, kF32, {source(b, i, 0, Type::f16)});
  result(b, i, b.truncate(Type::u16, normalised(b, v, kSigned)));
  return {};
}

// One byte of source 2, chosen by source 1, becomes the float, rounded to the nearest and saturated.
Outcome pack_byte(Builder& b, const Instruction& i) {
  const Value byte = b.op(Op::umin, to_unsigned(b, ir::rounded_integral(b, source(b, i, 0, kF32))), b.u32(255));
  const Value at = b.shl(b.land(source(b, i, 1, kU32), b.u32(3)), b.u32(3));
  const Value kept = b.land(source(b, i, 2, kU32), b.lnot(b.shl(b.u32(0xff), at)));
  result(b, i, b.lor(kept, b.shl(byte, at)));
  return {};
}

// Two signed shorts to unsigned bytes with saturation, in the low half.
Outcome saturate_bytes(Builder& b, const Instruction& i) {
  const Value v = source(b, i, 0, kU32);
  auto byte = [&](uint32_t first) { return clamp_signed(b, b.op(Op::bitfield_s, v, b.u32(first), b.u32(16)), 0, 255); };
  result(b, i, b.lor(byte(0), b.shl(byte(16), b.u32(8))));
  return {};
}

}  // namespace

Value to_signed(Builder& b, Value v) {
  const Type type = b.type(v);
  auto number = [&](double n) { return type == Type::f64 ? b.f64(n) : b.f32(static_cast<float>(n)); };
  // The largest number below 2^31 that the type has.
  const Value largest = number(type == Type::f64 ? 2147483647.0 : 2147483520.0);
  const Value cut = b.op(Op::fmin, b.op(Op::fmax, v, number(-2147483648.0)), largest);
  const Value d =
      b.select(b.compare(Op::fle, number(2147483648.0), v), b.u32(0x7fffffff), b.op(Op::f_to_s, Type::u32, {cut}));
  return b.select(b.compare(Op::fune, v, v), b.u32(0), d);
}

Value to_unsigned(Builder& b, Value v) {
  const Type type = b.type(v);
  auto number = [&](double n) { return type == Type::f64 ? b.f64(n) : b.f32(static_cast<float>(n)); };
  const Value largest = number(type == Type::f64 ? 4294967295.0 : 4294967040.0);
  const Value cut = b.op(Op::fmin, b.op(Op::fmax, v, number(0)), largest);  // NaN: 0
  return all_ones_if(b, b.compare(Op::fle, number(4294967296.0), v), b.op(Op::f_to_u, Type::u32, {cut}));
}

Value to_half_toward_zero(Builder& b, Value v) { return ir::rounded_convert(b, v, Type::f16, ir::Round::toward_zero); }

void add_conversions(SemanticTable& t) {
  set(t, Opcode::v_cvt_f32_i32, from_integer<Op::s_to_f, kF32>);
  set(t, Opcode::v_cvt_f32_u32, from_integer<Op::u_to_f, kF32>);
  set(t, Opcode::v_cvt_f64_i32, from_integer<Op::s_to_f, Type::f64>);
  set(t, Opcode::v_cvt_f64_u32, from_integer<Op::u_to_f, Type::f64>);
  set(t, Opcode::v_cvt_i32_f32, to_signed_32<kF32>);
  set(t, Opcode::v_cvt_u32_f32, to_unsigned_32<kF32>);
  set(t, Opcode::v_cvt_i32_f64, to_signed_32<Type::f64>);
  set(t, Opcode::v_cvt_u32_f64, to_unsigned_32<Type::f64>);
  set(t, Opcode::v_cvt_f16_f32, between_floats<kF32, Type::f16>);
  set(t, Opcode::v_cvt_f32_f16, between_floats<Type::f16, kF32>);
  set(t, Opcode::v_cvt_f32_f64, between_floats<Type::f64, kF32>);
  set(t, Opcode::v_cvt_f64_f32, between_floats<kF32, Type::f64>);
  set(t, Opcode::v_cvt_f16_i16, from_short<true>);
  set(t, Opcode::v_cvt_f16_u16, from_short<false>);
  set(t, Opcode::v_cvt_i16_f16, to_short<true>);
  set(t, Opcode::v_cvt_u16_f16, to_short<false>);
  set(t, Opcode::v_cvt_f32_ubyte0, from_byte<0>);
  set(t, Opcode::v_cvt_f32_ubyte1, from_byte<1>);
  set(t, Opcode::v_cvt_f32_ubyte2, from_byte<2>);
  set(t, Opcode::v_cvt_f32_ubyte3, from_byte<3>);
  set(t, Opcode::v_cvt_flr_i32_f32, round_down);
  set(t, Opcode::v_cvt_rpi_i32_f32, round_half_up);
  set(t, Opcode::v_cvt_off_f32_i4, from_offset);
  set(t, Opcode::v_cvt_pkrtz_f16_f32, pack_toward_zero);
  set(t, Opcode::v_cvt_pk_i16_i32, pack_shorts<true>);
  set(t, Opcode::v_cvt_pk_u16_u32, pack_shorts<false>);
  set(t, Opcode::v_cvt_pknorm_i16_f32, pack_normalised<kF32, true>);
  set(t, Opcode::v_cvt_pknorm_u16_f32, pack_normalised<kF32, false>);
  set(t, Opcode::v_cvt_pknorm_i16_f16, pack_normalised<Type::f16, true>);
  set(t, Opcode::v_cvt_pknorm_u16_f16, pack_normalised<Type::f16, false>);
  set(t, Opcode::v_cvt_norm_i16_f16, normalise_half<true>);
  set(t, Opcode::v_cvt_norm_u16_f16, normalise_half<false>);
  set(t, Opcode::v_cvt_pk_u8_f32, pack_byte);
  set(t, Opcode::v_sat_pk_u8_i16, saturate_bytes);
}

}  // namespace orrery::shader::semantics
