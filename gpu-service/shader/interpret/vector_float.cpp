// 32-bit float arithmetic. Approximations (rcp, rsq, sqrt, exp, log, sin, cos) are computed in double and rounded,
// within half an ulp and a little; the hardware is within 1 ulp (sin and cos: an absolute error), so tests against
// other implementations need that tolerance. As in the ISA document these flush denormals, whatever MODE says; so do
// mad and mac.
#include "gpu-service/shader/interpret/float_functions.hpp"
#include "gpu-service/shader/interpret/vector_templates.hpp"

namespace orrery::shader::interpret {
namespace {

using F32 = float;

template <class R, class A, auto F>
void rounded1(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round32());
  vector1<R, A, F>(wave, step);
}
template <class A, class B, auto F>
void rounded2(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round32());
  vector2<float, A, B, F>(wave, step);
}
template <auto F>
void rounded3(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round32());
  vector3<float, float, float, float, F>(wave, step);
}
template <auto F>
constexpr Handler k1 = rounded1<float, float, F>;
template <auto F>
constexpr Handler k2 = rounded2<float, float, F>;
template <auto F>
constexpr Handler k3 = rounded3<F>;

// Approximations: F in double of the flushed input.
template <auto F>
constexpr Handler kApproximate =
    vector1<float, float, ([](float x) { return flush(static_cast<float>(F(double{flush(x)}))); })>;

// F(a, b, ieee).
template <auto F>
void ordered2(Wave& wave, const Step& step) {
  Lanes<float> a, b, r;
  const bool ieee = Mode{wave.mode}.ieee();
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = F(a[lane], b[lane], ieee);
  }
  write(wave, step, r);
}
template <auto F>
void ordered3(Wave& wave, const Step& step) {
  Lanes<float> a, b, c, r;
  const bool ieee = Mode{wave.mode}.ieee();
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  fetch(wave, step, 2, c);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = F(a[lane], b[lane], c[lane], ieee);
  }
  write(wave, step, r);
}

// D = F(S0, S1, D).
template <auto F>
void accumulate(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round32());
  Lanes<float> a, b, r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  const uint32_t* old = wave.row(step.destination);
  const bool keeps = (Mode{wave.mode}.denorm32() & 1) != 0;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    const auto c = std::bit_cast<float>(old[lane]);
    r[lane] = F(a[lane], b[lane], keeps ? c : flush(c));
  }
  write(wave, step, r);
}

float legacy_multiply(float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }
// Rounds the product, then the sum; no denormals.
float multiply_add(float a, float b, float c) {
  const volatile float product = flush(flush(a) * flush(b));
  return flush(product + flush(c));
}
float legacy_multiply_add(float a, float b, float c) {
  const volatile float product = flush(legacy_multiply(flush(a), flush(b)));
  return flush(product + flush(c));
}
float legacy_fma(float a, float b, float c) { return a == 0 || b == 0 ? 0.0f + c : std::fma(a, b, c); }

void load_exponent(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round32());
  vector2<float, float, uint32_t, ([](float a, uint32_t b) { return std::ldexp(a, static_cast<int>(b)); })>(wave, step);
}

void scale(Wave& wave, const Step& step) {
  Lanes<float> a, b, c, r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  fetch(wave, step, 2, c);
  uint64_t mask = 0;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    bool scaled = false;
    r[lane] = division_scale(a[lane], b[lane], c[lane], scaled);
    mask |= uint64_t{scaled} << lane;
  }
  write(wave, step, r);
  write_mask(wave, step.destination2, mask);
}

void division_fmas(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round32());
  Lanes<float> a, b, c, r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  fetch(wave, step, 2, c);
  const uint64_t vcc = wave.mask(kVcc);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = division_fma(a[lane], b[lane], c[lane], active(vcc, lane));
  }
  write(wave, step, r);
}

// Cube map coordinates: the major axis is z over y over x.
enum class Axis { x, y, z };
Axis major_axis(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  return az >= ax && az >= ay ? Axis::z : ay >= ax ? Axis::y : Axis::x;
}
float cube_id(float x, float y, float z) {
  switch (major_axis(x, y, z)) {
    case Axis::z:
      return z < 0 ? 5.0f : 4.0f;
    case Axis::y:
      return y < 0 ? 3.0f : 2.0f;
    default:
      return x < 0 ? 1.0f : 0.0f;
  }
}
float cube_s(float x, float y, float z) {
  switch (major_axis(x, y, z)) {
    case Axis::z:
      return z < 0 ? -x : x;
    case Axis::y:
      return x;
    default:
      return x < 0 ? z : -z;
  }
}
float cube_t(float x, float y, float z) { return major_axis(x, y, z) == Axis::y ? (y < 0 ? -z : z) : -y; }
float cube_major(float x, float y, float z) {
  switch (major_axis(x, y, z)) {
    case Axis::z:
      return 2.0f * z;
    case Axis::y:
      return 2.0f * y;
    default:
      return 2.0f * x;
  }
}
float multiply_lit(float a, float b, float c) {
  const float lowest = std::numeric_limits<float>::lowest();
  return b == lowest || (std::isinf(b) && b < 0) || std::isnan(b) || !(c > 0) ? lowest : legacy_multiply(a, b);
}

Handler arithmetic_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_add_f32:
      return k2<([](float a, float b) { return a + b; })>;
    case Opcode::v_sub_f32:
      return k2<([](float a, float b) { return a - b; })>;
    case Opcode::v_subrev_f32:
      return k2<([](float a, float b) { return b - a; })>;
    case Opcode::v_mul_f32:
      return k2<([](float a, float b) { return a * b; })>;
    case Opcode::v_mul_legacy_f32:
      return k2<legacy_multiply>;
    case Opcode::v_fma_f32:
    case Opcode::v_fmaak_f32:
      return k3<([](float a, float b, float c) { return std::fma(a, b, c); })>;
    case Opcode::v_fmamk_f32:
      return k3<([](float a, float k, float c) { return std::fma(a, k, c); })>;
    case Opcode::v_fma_legacy_f32:
      return k3<legacy_fma>;
    case Opcode::v_fmac_f32:
      return accumulate<([](float a, float b, float c) { return std::fma(a, b, c); })>;
    case Opcode::v_fmac_legacy_f32:
      return accumulate<legacy_fma>;
    case Opcode::v_mad_f32:
    case Opcode::v_madak_f32:
    case Opcode::v_madmk_f32:
      return k3<multiply_add>;
    case Opcode::v_mad_legacy_f32:
      return k3<legacy_multiply_add>;
    case Opcode::v_mac_f32:
      return accumulate<multiply_add>;
    case Opcode::v_mac_legacy_f32:
      return accumulate<legacy_multiply_add>;
    case Opcode::v_ldexp_f32:
      return load_exponent;
    case Opcode::v_div_scale_f32:
      return scale;
    case Opcode::v_div_fmas_f32:
      return division_fmas;
    case Opcode::v_div_fixup_f32:
      return k3<([](float a, float b, float c) { return division_fixup(a, b, c); })>;
    case Opcode::v_mullit_f32:
      return k3<multiply_lit>;
    case Opcode::v_cubeid_f32:
      return k3<cube_id>;
    case Opcode::v_cubesc_f32:
      return k3<cube_s>;
    case Opcode::v_cubetc_f32:
      return k3<cube_t>;
    case Opcode::v_cubema_f32:
      return k3<cube_major>;
    default:
      return nullptr;
  }
}

Handler order_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_min_f32:
      return ordered2<([](float a, float b, bool i) { return minimum(a, b, i); })>;
    case Opcode::v_max_f32:
      return ordered2<([](float a, float b, bool i) { return maximum(a, b, i); })>;
    case Opcode::v_min3_f32:
      return ordered3<([](float a, float b, float c, bool i) { return minimum(minimum(a, b, i), c, i); })>;
    case Opcode::v_max3_f32:
      return ordered3<([](float a, float b, float c, bool i) { return maximum(maximum(a, b, i), c, i); })>;
    case Opcode::v_med3_f32:
      return ordered3<([](float a, float b, float c, bool i) { return median(a, b, c, i); })>;
    default:
      return nullptr;
  }
}

Handler unary_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_rcp_f32:
    case Opcode::v_rcp_iflag_f32:
      return kApproximate<([](double x) { return 1.0 / x; })>;
    case Opcode::v_rsq_f32:
      return kApproximate<([](double x) { return 1.0 / std::sqrt(x); })>;
    case Opcode::v_sqrt_f32:
      return kApproximate<([](double x) { return std::sqrt(x); })>;
    case Opcode::v_exp_f32:
      return kApproximate<([](double x) { return std::exp2(x); })>;
    case Opcode::v_log_f32:
      return kApproximate<([](double x) { return std::log2(x); })>;
    case Opcode::v_sin_f32:
      return kApproximate<([](double x) { return sine(x); })>;
    case Opcode::v_cos_f32:
      return kApproximate<([](double x) { return cosine(x); })>;
    case Opcode::v_fract_f32:
      return k1<([](float x) { return fraction(x); })>;
    case Opcode::v_trunc_f32:
      return vector1<F32, F32, ([](float x) { return std::trunc(x); })>;
    case Opcode::v_ceil_f32:
      return vector1<F32, F32, ([](float x) { return std::ceil(x); })>;
    case Opcode::v_floor_f32:
      return vector1<F32, F32, ([](float x) { return std::floor(x); })>;
    case Opcode::v_rndne_f32:
      return vector1<F32, F32, ([](float x) { return std::nearbyint(x); })>;
    case Opcode::v_frexp_mant_f32:
      return vector1<F32, F32, ([](float x) { return mantissa(x); })>;
    case Opcode::v_frexp_exp_i32_f32:
      return vector1<uint32_t, F32, ([](float x) { return exponent(x); })>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler vector_float_handler(Opcode opcode) {
  for (const auto family : {arithmetic_handler, order_handler, unary_handler}) {
    if (const Handler handler = family(opcode)) {
      return handler;
    }
  }
  return nullptr;
}

}  // namespace orrery::shader::interpret
