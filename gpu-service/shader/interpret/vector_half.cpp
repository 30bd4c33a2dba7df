// 16-bit float arithmetic, through double and rounded once.
#include <algorithm>
#include <cmath>

#include "gpu-service/shader/interpret/float_functions.hpp"
#include "gpu-service/shader/interpret/vector_templates.hpp"

namespace orrery::shader::interpret {
namespace {

constexpr int kFarthestScale = 256;

using u16 = uint16_t;
double wide(u16 half) { return half_to_float(half); }

// F in double gives an exact value, or one whose second rounding is harmless.
template <unsigned kSources, auto F>
void half(Wave& wave, const Step& step) {
  Lanes<u16> s[3], r;
  for (unsigned i = 0; i < kSources; ++i) {
    fetch_float_half(wave, step, i, s[i]);
  }
  const Mode mode{wave.mode};
  const Rounding rounding(mode.round64());  // it decides the sign of an exact zero
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    if constexpr (kSources == 1) {
      r[lane] = half_from_double(F(wide(s[0][lane])), mode.round64());
    } else if constexpr (kSources == 2) {
      r[lane] = half_from_double(F(wide(s[0][lane]), wide(s[1][lane])), mode.round64());
    } else {
      r[lane] = half_from_double(F(wide(s[0][lane]), wide(s[1][lane]), wide(s[2][lane])), mode.round64());
    }
  }
  write_float_half(wave, step, r);
}
// F on the bits, with IEEE mode.
template <unsigned kSources, auto F>
void ordered(Wave& wave, const Step& step) {
  Lanes<u16> s[3], r;
  for (unsigned i = 0; i < kSources; ++i) {
    fetch_float_half(wave, step, i, s[i]);
  }
  const bool ieee = Mode{wave.mode}.ieee();
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    // Exact both ways. A signaling half stays signaling as float.
    if constexpr (kSources == 2) {
      r[lane] = half_from_double(F(half_to_float(s[0][lane]), half_to_float(s[1][lane]), ieee), 0);
    } else {
      r[lane] =
          half_from_double(F(half_to_float(s[0][lane]), half_to_float(s[1][lane]), half_to_float(s[2][lane]), ieee), 0);
    }
  }
  write_float_half(wave, step, r);
}

void fused(Wave& wave, const Step& step) {
  Lanes<u16> a, b, c, r;
  fetch_float_half(wave, step, 0, a);
  fetch_float_half(wave, step, 1, b);
  fetch_float_half(wave, step, 2, c);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = half_fma(a[lane], b[lane], c[lane], Mode{wave.mode}.round64());
  }
  write_float_half(wave, step, r);
}
void accumulate(Wave& wave, const Step& step) {
  Lanes<u16> a, b, r;
  fetch_float_half(wave, step, 0, a);
  fetch_float_half(wave, step, 1, b);
  const uint32_t* old = wave.row(step.destination);
  const Mode mode{wave.mode};
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    const auto c = static_cast<u16>(old[lane]);
    r[lane] = half_fma(a[lane], b[lane], (mode.denorm64() & 1) != 0 ? c : flush_half(c), mode.round64());
  }
  write_float_half(wave, step, r);
}
void load_exponent(Wave& wave, const Step& step) {
  Lanes<u16> a, b, r;
  fetch_float_half(wave, step, 0, a);
  fetch_half(wave, step, 1, b);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    // Within what a double holds: beyond, every half is far behind its largest or smallest.
    const int by = std::clamp<int>(static_cast<int16_t>(b[lane]), -kFarthestScale, kFarthestScale);
    r[lane] = half_from_double(std::ldexp(wide(a[lane]), by), Mode{wave.mode}.round64());
  }
  write_float_half(wave, step, r);
}
void exponent_of(Wave& wave, const Step& step) {
  Lanes<u16> a, r;
  fetch_float_half(wave, step, 0, a);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = static_cast<u16>(exponent(wide(a[lane])));
  }
  write_half(wave, step, r);
}
void fixup(Wave& wave, const Step& step) {
  half<3, ([](double q, double d, double n) { return division_fixup(q, d, n); })>(wave, step);
}
void pack(Wave& wave, const Step& step) {
  Lanes<u16> a, b;
  Lanes<uint32_t> r;
  fetch_float_half(wave, step, 0, a);
  fetch_float_half(wave, step, 1, b);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = a[lane] | uint32_t{b[lane]} << 16;
  }
  write(wave, step, r);
}

}  // namespace

Handler vector_half_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_add_f16:
      return half<2, ([](double a, double b) { return a + b; })>;
    case Opcode::v_sub_f16:
      return half<2, ([](double a, double b) { return a - b; })>;
    case Opcode::v_subrev_f16:
      return half<2, ([](double a, double b) { return b - a; })>;
    case Opcode::v_mul_f16:
      return half<2, ([](double a, double b) { return a * b; })>;
    case Opcode::v_fma_f16:
    case Opcode::v_fmaak_f16:
    case Opcode::v_fmamk_f16:
      return fused;
    case Opcode::v_fmac_f16:
      return accumulate;
    case Opcode::v_ldexp_f16:
      return load_exponent;
    case Opcode::v_div_fixup_f16:
      return fixup;
    case Opcode::v_pack_b32_f16:
      return pack;
    case Opcode::v_min_f16:
      return ordered<2, ([](float a, float b, bool i) { return double{minimum(a, b, i)}; })>;
    case Opcode::v_max_f16:
      return ordered<2, ([](float a, float b, bool i) { return double{maximum(a, b, i)}; })>;
    case Opcode::v_min3_f16:
      return ordered<3, ([](float a, float b, float c, bool i) { return double{minimum(minimum(a, b, i), c, i)}; })>;
    case Opcode::v_max3_f16:
      return ordered<3, ([](float a, float b, float c, bool i) { return double{maximum(maximum(a, b, i), c, i)}; })>;
    case Opcode::v_med3_f16:
      return ordered<3, ([](float a, float b, float c, bool i) { return double{median(a, b, c, i)}; })>;
    case Opcode::v_rcp_f16:
      return half<1, ([](double x) { return 1.0 / x; })>;
    case Opcode::v_rsq_f16:
      return half<1, ([](double x) { return 1.0 / std::sqrt(x); })>;
    case Opcode::v_sqrt_f16:
      return half<1, ([](double x) { return std::sqrt(x); })>;
    case Opcode::v_exp_f16:
      return half<1, ([](double x) { return std::exp2(x); })>;
    case Opcode::v_log_f16:
      return half<1, ([](double x) { return std::log2(x); })>;
    case Opcode::v_sin_f16:
      return half<1, ([](double x) { return sine(x); })>;
    case Opcode::v_cos_f16:
      return half<1, ([](double x) { return cosine(x); })>;
    case Opcode::v_trunc_f16:
      return half<1, ([](double x) { return std::trunc(x); })>;
    case Opcode::v_ceil_f16:
      return half<1, ([](double x) { return std::ceil(x); })>;
    case Opcode::v_floor_f16:
      return half<1, ([](double x) { return std::floor(x); })>;
    case Opcode::v_rndne_f16:
      return half<1, ([](double x) { return std::nearbyint(x); })>;
    // The largest half below 1 where the difference would round up to it.
    case Opcode::v_fract_f16:
      return half<1, ([](double x) { return std::min(x - std::floor(x), 0x1.ffcp-1); })>;
    case Opcode::v_frexp_mant_f16:
      return half<1, ([](double x) { return mantissa(x); })>;
    case Opcode::v_frexp_exp_i16_f16:
      return exponent_of;
    default:
      return nullptr;
  }
}

}  // namespace orrery::shader::interpret
