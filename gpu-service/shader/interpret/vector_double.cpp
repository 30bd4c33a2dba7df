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

// The 1,201 bits of 2 / pi that the ISA document's V_TRIG_PREOP_F64 names, in 24-bit pieces as the mathematical
// libraries have them (fdlibm, __kernel_rem_pio2).
constexpr uint32_t kTwoOverPi[] = {
    0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd, 0xc0db62, 0x95993c, 0x439041, 0xfe5163, 0xabdebb, 0xc561b7,
    0x246e3a, 0x424dd2, 0xe00649, 0x2eea09, 0xd1921c, 0xfe1deb, 0x1cb129, 0xa73ee8, 0x8235f5, 0x2ebb44, 0x84e99c,
    0x7026b4, 0x5f7e41, 0x3991d6, 0x398353, 0x39f49c, 0x845f8b, 0xbdf928, 0x3b1ff8, 0x97ffde, 0x05980f, 0xef2f11,
    0x8b5a0a, 0x6d1f6d, 0x367ecf, 0x27cb09, 0xb74f46, 0x3f669e, 0x5fea2d, 0x7527ba, 0xc7ebe5, 0xf17b3d, 0x0739f7,
    0x8a5292, 0xea6bfb, 0x5fb11f, 0x8d5d08, 0x560330, 0x46fc7b, 0x000000,
};
// Bit n behind the binary point.
uint64_t bit_of_two_over_pi(unsigned n) { return n < 1201 ? kTwoOverPi[n / 24] >> (23 - n % 24) & 1 : 0; }

void trigonometric_operand(Wave& wave, const Step& step) {
  const Rounding rounding(Mode{wave.mode}.round64());
  Lanes<uint64_t> a;
  Lanes<uint32_t> b;
  Lanes<F64> r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    const auto exponent = static_cast<unsigned>(a[lane] >> 52 & 0x7ff);
    const unsigned first = (b[lane] & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    uint64_t bits = 0;
    for (unsigned n = 0; n < 53; ++n) {
      bits = bits << 1 | bit_of_two_over_pi(first + n);
    }
    const int scale = -53 - static_cast<int>(first) + (exponent >= 1968 ? 128 : 0);
    r[lane] = std::ldexp(static_cast<double>(bits), scale);
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
      return rounded1<([](double x) { return fraction(x); })>;
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
    case Opcode::v_trig_preop_f64:
      return trigonometric_operand;
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
