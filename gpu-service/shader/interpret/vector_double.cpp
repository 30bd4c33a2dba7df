// 64-bit float arithmetic. v_rcp, v_rsq and v_sqrt are correctly rounded here; the hardware gives an estimate that code
// refines.
#include "gpu-service/shader/interpret/float_functions.hpp"
#include "gpu-service/shader/interpret/vector_templates.hpp"

namespace orrery::shader::interpret {
namespace {

using F64 = double;

template <auto F>
void rounded1(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round64());
  vector1<F64, F64, F>(wave, step);
}
template <auto F>
void rounded2(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round64());
  vector2<F64, F64, F64, F>(wave, step);
}
template <auto F>
void rounded3(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round64());
  vector3<F64, F64, F64, F64, F>(wave, step);
}
template <auto F>
void ordered2(Wave& wave, const Step& step) {
  Lanes<F64> a, b, r;
  const bool ieee = Mode{wave.mode}.ieee();
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = F(a[lane], b[lane], ieee);
  }
  write(wave, step, r);
}

void load_exponent(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round64());
  vector2<F64, F64, uint32_t, ([](double a, uint32_t b) { return std::ldexp(a, static_cast<int>(b)); })>(wave, step);
}

void scale(Wave& wave, const Step& step) {
  Lanes<F64> a, b, c, r;
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
  const Rounding rounding(Mode{wave.mode}.round64());
  Lanes<F64> a, b, c, r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  fetch(wave, step, 2, c);
  const uint64_t vcc = wave.mask(kVcc);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = division_fma(a[lane], b[lane], c[lane], active(vcc, lane));
  }
  write(wave, step, r);
}

}  // namespace

Handler vector_double_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_add_f64:
      return rounded2<([](double a, double b) { return a + b; })>;
    case Opcode::v_mul_f64:
      return rounded2<([](double a, double b) { return a * b; })>;
    case Opcode::v_fma_f64:
      return rounded3<([](double a, double b, double c) { return std::fma(a, b, c); })>;
    case Opcode::v_min_f64:
      return ordered2<([](double a, double b, bool i) { return minimum(a, b, i); })>;
    case Opcode::v_max_f64:
      return ordered2<([](double a, double b, bool i) { return maximum(a, b, i); })>;
    case Opcode::v_rcp_f64:
      return rounded1<([](double x) { return 1.0 / x; })>;
    case Opcode::v_rsq_f64:
      return rounded1<([](double x) { return 1.0 / std::sqrt(x); })>;
    case Opcode::v_sqrt_f64:
      return rounded1<([](double x) { return std::sqrt(x); })>;
    case Opcode::v_fract_f64:
      return vector1<F64, F64, ([](double x) { return fraction(x); })>;
    case Opcode::v_trunc_f64:
      return vector1<F64, F64, ([](double x) { return std::trunc(x); })>;
    case Opcode::v_ceil_f64:
      return vector1<F64, F64, ([](double x) { return std::ceil(x); })>;
    case Opcode::v_floor_f64:
      return vector1<F64, F64, ([](double x) { return std::floor(x); })>;
    case Opcode::v_rndne_f64:
      return vector1<F64, F64, ([](double x) { return std::nearbyint(x); })>;
    case Opcode::v_frexp_mant_f64:
      return vector1<F64, F64, ([](double x) { return mantissa(x); })>;
    case Opcode::v_frexp_exp_i32_f64:
      return vector1<uint32_t, F64, ([](double x) { return exponent(x); })>;
    case Opcode::v_ldexp_f64:
      return load_exponent;
    case Opcode::v_div_scale_f64:
      return scale;
    case Opcode::v_div_fmas_f64:
      return division_fmas;
    case Opcode::v_div_fixup_f64:
      return rounded3<([](double a, double b, double c) { return division_fixup(a, b, c); })>;
    default:
      return nullptr;
  }
}

}  // namespace orrery::shader::interpret
