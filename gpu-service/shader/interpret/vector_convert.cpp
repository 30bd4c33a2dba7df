// Conversions between number formats.
#include <algorithm>

#include "gpu-service/shader/interpret/vector_templates.hpp"

namespace orrery::shader::interpret {
namespace {

using u16 = uint16_t;
using u32 = uint32_t;
using i32 = int32_t;

// Truncates, saturates; NaN gives 0.
template <class I, class F>
u32 to_integer(F x) {
  constexpr F kLow = static_cast<F>(std::numeric_limits<I>::min());
  const F high = std::ldexp(F(1), std::numeric_limits<I>::digits);
  if (std::isnan(x)) return 0;
  if (x <= kLow) return static_cast<u32>(std::numeric_limits<I>::min());
  if (x >= high) return static_cast<u32>(std::numeric_limits<I>::max());
  return static_cast<u32>(static_cast<I>(x));
}
i32 normalized(double x, double scale, double low) {
  return std::isnan(x) ? 0 : static_cast<i32>(std::nearbyint(std::clamp(x, low, 1.0) * scale));
}

template <class R, class A, auto F>
void rounded32(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round32());
  vector1<R, A, F>(wave, step);
}

void to_half(Wave& wave, const Step& step) {
  Lanes<float> a;
  Lanes<u16> r;
  fetch(wave, step, 0, a);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = half_from_double(a[lane], Mode{wave.mode}.round64());
  }
  write_float_half(wave, step, r);
}
void from_half(Wave& wave, const Step& step) {
  Lanes<u16> a;
  Lanes<float> r;
  fetch_float_half(wave, step, 0, a);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    // A conversion makes a signaling NaN quiet; what follows may tell the two apart (max, min).
    const float value = half_to_float(a[lane]);
    r[lane] = std::isnan(value) ? quiet(value) : value;
  }
  write(wave, step, r);
}
template <auto F>
void half_to_short(Wave& wave, const Step& step) {
  Lanes<u16> a, r;
  fetch_float_half(wave, step, 0, a);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = static_cast<u16>(F(half_to_float(a[lane])));
  }
  write_half(wave, step, r);
}
template <class T>
void short_to_half(Wave& wave, const Step& step) {
  Lanes<u16> a, r;
  fetch_half(wave, step, 0, a);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = half_from_double(static_cast<T>(a[lane]), Mode{wave.mode}.round64());
  }
  write_float_half(wave, step, r);
}
// Two halves of 16 bits from two sources.
template <auto F>
void pack_floats(Wave& wave, const Step& step) {
  Lanes<float> a, b;
  Lanes<u32> r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = (static_cast<u32>(F(a[lane])) & 0xffff) | static_cast<u32>(F(b[lane])) << 16;
  }
  write(wave, step, r);
}
template <auto F>
void pack_halves(Wave& wave, const Step& step) {
  Lanes<u16> a, b;
  Lanes<u32> r;
  fetch_float_half(wave, step, 0, a);
  fetch_float_half(wave, step, 1, b);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = (static_cast<u32>(F(half_to_float(a[lane]))) & 0xffff) | static_cast<u32>(F(half_to_float(b[lane])))
                                                                           << 16;
  }
  write(wave, step, r);
}
void pack_byte(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round32());
  Lanes<float> a;
  Lanes<u32> b, c, r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  fetch(wave, step, 2, c);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const auto byte = static_cast<u32>(std::isnan(a[lane]) ? 0.0f : std::nearbyint(std::clamp(a[lane], 0.0f, 255.0f)));
    const u32 shift = 8 * (b[lane] & 3);
    r[lane] = (c[lane] & ~(0xffu << shift)) | byte << shift;
  }
  write(wave, step, r);
}

i32 signed_norm(float x) { return normalized(x, 32767, -1); }
i32 unsigned_norm(float x) { return normalized(x, 65535, 0); }
u32 round_to_zero_half(float x) { return half_from_double(x, 3); }
u32 saturated_bytes(u32 a) {
  const auto byte = [](u32 half) { return static_cast<u32>(std::clamp<i32>(static_cast<int16_t>(half), 0, 255)); };
  return byte(a & 0xffff) | byte(a >> 16) << 8;
}

}  // namespace

Handler vector_convert_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_cvt_f32_i32:
      return rounded32<float, u32, ([](u32 a) { return static_cast<float>(static_cast<i32>(a)); })>;
    case Opcode::v_cvt_f32_u32:
      return rounded32<float, u32, ([](u32 a) { return static_cast<float>(a); })>;
    case Opcode::v_cvt_u32_f32:
      return vector1<u32, float, ([](float a) { return to_integer<u32>(a); })>;
    case Opcode::v_cvt_i32_f32:
      return vector1<u32, float, ([](float a) { return to_integer<i32>(a); })>;
    case Opcode::v_cvt_rpi_i32_f32:
      return vector1<u32, float, ([](float a) { return to_integer<i32>(std::floor(double{a} + 0.5)); })>;
    case Opcode::v_cvt_flr_i32_f32:
      return vector1<u32, float, ([](float a) { return to_integer<i32>(std::floor(a)); })>;
    case Opcode::v_cvt_off_f32_i4:
      return vector1<float, u32, ([](u32 a) { return static_cast<float>(static_cast<i32>(a << 28) >> 28) / 16.0f; })>;
    case Opcode::v_cvt_f32_ubyte0:
      return vector1<float, u32, ([](u32 a) { return static_cast<float>(a & 255); })>;
    case Opcode::v_cvt_f32_ubyte1:
      return vector1<float, u32, ([](u32 a) { return static_cast<float>(a >> 8 & 255); })>;
    case Opcode::v_cvt_f32_ubyte2:
      return vector1<float, u32, ([](u32 a) { return static_cast<float>(a >> 16 & 255); })>;
    case Opcode::v_cvt_f32_ubyte3:
      return vector1<float, u32, ([](u32 a) { return static_cast<float>(a >> 24); })>;
    case Opcode::v_cvt_f16_f32:
      return to_half;
    case Opcode::v_cvt_f32_f16:
      return from_half;
    case Opcode::v_cvt_i32_f64:
      return vector1<u32, double, ([](double a) { return to_integer<i32>(a); })>;
    case Opcode::v_cvt_u32_f64:
      return vector1<u32, double, ([](double a) { return to_integer<u32>(a); })>;
    case Opcode::v_cvt_f64_i32:
      return vector1<double, u32, ([](u32 a) { return double(static_cast<i32>(a)); })>;
    case Opcode::v_cvt_f64_u32:
      return vector1<double, u32, ([](u32 a) { return double(a); })>;
    case Opcode::v_cvt_f32_f64:
      return rounded32<float, double, ([](double a) { return static_cast<float>(a); })>;
    case Opcode::v_cvt_f64_f32:
      return vector1<double, float, ([](float a) { return double{a}; })>;
    case Opcode::v_cvt_f16_u16:
      return short_to_half<u16>;
    case Opcode::v_cvt_f16_i16:
      return short_to_half<int16_t>;
    case Opcode::v_cvt_u16_f16:
      return half_to_short<([](float a) { return to_integer<u16>(a); })>;
    case Opcode::v_cvt_i16_f16:
      return half_to_short<([](float a) { return to_integer<int16_t>(a); })>;
    case Opcode::v_cvt_norm_i16_f16:
      return half_to_short<signed_norm>;
    case Opcode::v_cvt_norm_u16_f16:
      return half_to_short<unsigned_norm>;
    case Opcode::v_cvt_pknorm_i16_f32:
      return pack_floats<signed_norm>;
    case Opcode::v_cvt_pknorm_u16_f32:
      return pack_floats<unsigned_norm>;
    case Opcode::v_cvt_pknorm_i16_f16:
      return pack_halves<signed_norm>;
    case Opcode::v_cvt_pknorm_u16_f16:
      return pack_halves<unsigned_norm>;
    case Opcode::v_cvt_pkrtz_f16_f32:
      return pack_floats<round_to_zero_half>;
    case Opcode::v_cvt_pk_u16_u32:
      return vector2<u32, u32, u32, ([](u32 a, u32 b) { return std::min(a, 0xffffu) | std::min(b, 0xffffu) << 16; })>;
    case Opcode::v_cvt_pk_i16_i32:
      return vector2<u32, u32, u32, ([](u32 a, u32 b) {
                       const auto narrow = [](u32 x) {
                         return static_cast<u32>(std::clamp(static_cast<i32>(x), -32768, 32767)) & 0xffff;
                       };
                       return narrow(a) | narrow(b) << 16;
                     })>;
    case Opcode::v_cvt_pk_u8_f32:
      return pack_byte;
    case Opcode::v_sat_pk_u8_i16:
      return vector1<u32, u32, saturated_bytes>;
    default:
      return nullptr;
  }
}

}  // namespace orrery::shader::interpret
