// 16-bit integers, one per register half.
#include <algorithm>

#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {
namespace {

using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;

template <class T>
T saturated(i32 value) {
  return static_cast<T>(std::clamp<i32>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

// F over T widened to i32; with the clamp bit the result saturates.
template <class T, auto F>
void short2(Wave& wave, const Step& step) {
  Lanes<u16> a, b, r;
  fetch_half(wave, step, 0, a);
  fetch_half(wave, step, 1, b);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const i32 exact = F(i32{static_cast<T>(a[lane])}, i32{static_cast<T>(b[lane])});
    r[lane] = static_cast<u16>(step.instruction->clamp ? saturated<T>(exact) : static_cast<T>(exact));
  }
  write_half(wave, step, r);
}
template <class T, auto F>
void short3(Wave& wave, const Step& step) {
  Lanes<u16> a, b, c, r;
  fetch_half(wave, step, 0, a);
  fetch_half(wave, step, 1, b);
  fetch_half(wave, step, 2, c);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const int64_t exact =
        F(int64_t{static_cast<T>(a[lane])}, int64_t{static_cast<T>(b[lane])}, int64_t{static_cast<T>(c[lane])});
    const auto bounded = static_cast<i32>(std::clamp<int64_t>(exact, -0x7fffffff, 0x7fffffff));
    r[lane] = static_cast<u16>(step.instruction->clamp ? saturated<T>(bounded) : static_cast<T>(exact));
  }
  write_half(wave, step, r);
}
// 16 x 16 + 32.
template <class T>
void wide_mad(Wave& wave, const Step& step) {
  Lanes<u16> a, b;
  Lanes<u32> c, r;
  fetch_half(wave, step, 0, a);
  fetch_half(wave, step, 1, b);
  fetch(wave, step, 2, c);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    using W = std::conditional_t<std::is_signed_v<T>, i32, u32>;
    const int64_t exact = int64_t{static_cast<T>(a[lane])} * static_cast<T>(b[lane]) + static_cast<W>(c[lane]);
    const int64_t bounded = std::clamp<int64_t>(exact, std::numeric_limits<W>::min(), std::numeric_limits<W>::max());
    r[lane] = static_cast<u32>(step.instruction->clamp ? bounded : exact);
  }
  write(wave, step, r);
}

constexpr auto kMin3 = [](int64_t a, int64_t b, int64_t c) { return std::min({a, b, c}); };
constexpr auto kMax3 = [](int64_t a, int64_t b, int64_t c) { return std::max({a, b, c}); };
constexpr auto kMed3 = [](int64_t a, int64_t b, int64_t c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
};
constexpr auto kMad = [](int64_t a, int64_t b, int64_t c) { return a * b + c; };

}  // namespace

Handler vector_short_integer_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_add_nc_u16:
      return short2<u16, ([](i32 a, i32 b) { return a + b; })>;
    case Opcode::v_sub_nc_u16:
      return short2<u16, ([](i32 a, i32 b) { return a - b; })>;
    case Opcode::v_add_nc_i16:
      return short2<i16, ([](i32 a, i32 b) { return a + b; })>;
    case Opcode::v_sub_nc_i16:
      return short2<i16, ([](i32 a, i32 b) { return a - b; })>;
    case Opcode::v_mul_lo_u16:
      return short2<u16, ([](i32 a, i32 b) { return i32(u32(a) * u32(b)); })>;
    case Opcode::v_lshlrev_b16:
      return short2<u16, ([](i32 a, i32 b) { return b << (a & 15); })>;
    case Opcode::v_lshrrev_b16:
      return short2<u16, ([](i32 a, i32 b) { return b >> (a & 15); })>;
    case Opcode::v_ashrrev_i16:
      return short2<i16, ([](i32 a, i32 b) { return b >> (a & 15); })>;
    case Opcode::v_max_u16:
      return short2<u16, ([](i32 a, i32 b) { return std::max(a, b); })>;
    case Opcode::v_min_u16:
      return short2<u16, ([](i32 a, i32 b) { return std::min(a, b); })>;
    case Opcode::v_max_i16:
      return short2<i16, ([](i32 a, i32 b) { return std::max(a, b); })>;
    case Opcode::v_min_i16:
      return short2<i16, ([](i32 a, i32 b) { return std::min(a, b); })>;
    case Opcode::v_mad_u16:
      return short3<u16, kMad>;
    case Opcode::v_mad_i16:
      return short3<i16, kMad>;
    case Opcode::v_min3_u16:
      return short3<u16, kMin3>;
    case Opcode::v_min3_i16:
      return short3<i16, kMin3>;
    case Opcode::v_max3_u16:
      return short3<u16, kMax3>;
    case Opcode::v_max3_i16:
      return short3<i16, kMax3>;
    case Opcode::v_med3_u16:
      return short3<u16, kMed3>;
    case Opcode::v_med3_i16:
      return short3<i16, kMed3>;
    case Opcode::v_mad_u32_u16:
      return wide_mad<u16>;
    case Opcode::v_mad_i32_i16:
      return wide_mad<i16>;
    default:
      return nullptr;
  }
}

}  // namespace orrery::shader::interpret
