#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "gpu-service/vulkan/device.hpp"
#include "tests/gpu-service/shader/semantics/expectation.hpp"

namespace orrery::shader::semantics::test {
namespace {

constexpr Comparison kF32{Comparison::As::f32, 0}, kF64{Comparison::As::f64, 0};

float f32(uint32_t v) { return std::bit_cast<float>(v); }
double f64(uint64_t v) { return std::bit_cast<double>(v); }

template <class F>
auto floats(F f) {
  return each_lane(
      [f](uint32_t a, uint32_t b, uint32_t c) { return std::bit_cast<uint32_t>(f(f32(a), f32(b), f32(c))); });
}
template <class F>
auto doubles(F f) {
  return each_lane_wide(
      [f](uint64_t a, uint64_t b, uint64_t c) { return std::bit_cast<uint64_t>(f(f64(a), f64(b), f64(c))); });
}
// The number where one operand is a NaN of either kind (not in IEEE mode).
template <class F>
F smaller(F a, F b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class F>
F larger(F a, F b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}
// The approximating functions know no denormals.
float flushed(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; }
// max(min(v, 1), 0): -0 becomes +0.
float saturate(float v) { return v > 0 ? std::min(v, 1.0f) : 0.0f; }

TEST(VectorFloat, arithmetic) {
  check(
      {
          {"v_add_f32 v8, v1, v2", floats([](float a, float b, float) { return a + b; }), kF32},
          {"v_sub_f32 v8, v1, v2", floats([](float a, float b, float) { return a - b; }), kF32},
          {"v_subrev_f32 v8, v1, v2", floats([](float a, float b, float) { return b - a; }), kF32},
          {"v_mul_f32 v8, v1, v2", floats([](float a, float b, float) { return a * b; }), kF32},
          {"v_mul_f32 v8, -v1, |v2|", floats([](float a, float b, float) { return -a * std::fabs(b); }), kF32},
          {"v_add_f32 v8, v1, v2 clamp", floats([](float a, float b, float) { return saturate(a + b); }), kF32},
          {"v_fma_f32 v8, v1, v2, v3", floats([](float a, float b, float c) { return std::fma(a, b, c); }), kF32},
          {"v_fmac_f32 v8, v1, v2",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (!lane_on(s.exec, l)) continue;
               const float d = std::fma(f32(s.vgprs[1][l]), f32(s.vgprs[2][l]), f32(s.vgprs[8][l]));
               s.vgprs[8][l] = std::bit_cast<uint32_t>(d);
             }
           },
           kF32},
          {"v_fmaak_f32 v8, v1, v2, 0x40490fdb",
           floats([](float a, float b, float) { return std::fma(a, b, std::numbers::pi_v<float>); }), kF32},
          {"v_fmamk_f32 v8, v1, 0x40490fdb, v2",
           floats([](float a, float b, float) { return std::fma(a, std::numbers::pi_v<float>, b); }), kF32},
          {"v_mul_legacy_f32 v8, v1, v2",
           floats([](float a, float b, float) { return a == 0 || b == 0 ? 0.0f : a * b; }), kF32},
          {"v_min_f32 v8, v1, v2", floats([](float a, float b, float) { return smaller(a, b); }), kF32},
          {"v_max_f32 v8, v1, v2", floats([](float a, float b, float) { return larger(a, b); }), kF32},
          {"v_med3_f32 v8, v1, v2, v3", floats([](float a, float b, float c) {
             if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return smaller(smaller(a, b), c);
             return larger(smaller(a, b), smaller(larger(a, b), c));
           }),
           kF32},
          {"v_floor_f32 v8, v1", floats([](float a, float, float) { return std::floor(a); }), kF32},
          {"v_ceil_f32 v8, v1", floats([](float a, float, float) { return std::ceil(a); }), kF32},
          {"v_trunc_f32 v8, v1", floats([](float a, float, float) { return std::trunc(a); }), kF32},
          {"v_rndne_f32 v8, v1", floats([](float a, float, float) { return std::nearbyint(a); }), kF32},
          {"v_fract_f32 v8, v1", floats([](float a, float, float) {
             return std::isfinite(a) ? std::fmin(a - std::floor(a), 0x1.fffffep-1f) : NAN;
           }),
           kF32},
          {"v_ldexp_f32 v8, v1, s1",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l))
                 s.vgprs[8][l] = std::bit_cast<uint32_t>(std::ldexp(f32(s.vgprs[1][l]), static_cast<int>(s.sgprs[1])));
             }
           },
           kF32},
          {"v_ldexp_f32 v8, v1, -24", floats([](float a, float, float) { return std::ldexp(a, -24); }), kF32},
          {"v_frexp_mant_f32 v8, v1", floats([](float a, float, float) {
             int e;
             return std::isfinite(a) ? std::frexp(a, &e) : a;
           }),
           kF32},
          {"v_frexp_exp_i32_f32 v8, v1", each_lane([](uint32_t a, uint32_t, uint32_t) {
             int e = 0;
             if (std::isfinite(f32(a))) std::frexp(f32(a), &e);
             return static_cast<uint32_t>(e);
           })},
          {"v_cvt_i32_f32 v8, v1", each_lane([](uint32_t a, uint32_t, uint32_t) {
             const double d = f32(a);
             return std::isnan(d)
                        ? 0u
                        : static_cast<uint32_t>(static_cast<int64_t>(std::clamp(d, -2147483648.0, 2147483647.0)));
           })},
          {"v_cvt_u32_f32 v8, v1", each_lane([](uint32_t a, uint32_t, uint32_t) {
             const double d = f32(a);
             return std::isnan(d) ? 0u : static_cast<uint32_t>(std::clamp(d, 0.0, 4294967295.0));
           })},
          {"v_cvt_f32_i32 v8, v1", each_lane([](uint32_t a, uint32_t, uint32_t) {
             return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(a)));
           })},
          {"v_cvt_f32_u32 v8, v1",
           each_lane([](uint32_t a, uint32_t, uint32_t) { return std::bit_cast<uint32_t>(static_cast<float>(a)); })},
          {"v_cvt_f32_ubyte2 v8, v1", each_lane([](uint32_t a, uint32_t, uint32_t) {
             return std::bit_cast<uint32_t>(static_cast<float>(a >> 16 & 255));
           })},
          {"v_cvt_flr_i32_f32 v8, v1", each_lane([](uint32_t a, uint32_t, uint32_t) {
             const double d = std::floor(static_cast<double>(f32(a)));
             return std::isnan(d)
                        ? 0u
                        : static_cast<uint32_t>(static_cast<int64_t>(std::clamp(d, -2147483648.0, 2147483647.0)));
           })},
          {"v_cvt_f64_f32 v[8:9], v1",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l))
                 set_wide(s, 8, l, std::bit_cast<uint64_t>(static_cast<double>(f32(s.vgprs[1][l]))));
             }
           },
           kF64},
      },
      Values::f32, 24);
}

TEST(VectorFloat, functions_of_the_host_are_close) {
  auto close = [](uint32_t ulp) { return Comparison{Comparison::As::f32, ulp}; };
  check(
      {
          {"v_rcp_f32 v8, v1", floats([](float a, float, float) { return flushed(1.0f / flushed(a)); }), close(1)},
          {"v_sqrt_f32 v8, v1", floats([](float a, float, float) { return std::sqrt(flushed(a)); }), close(1)},
          {"v_rsq_f32 v8, v1", floats([](float a, float, float) {
             return static_cast<float>(1 / std::sqrt(static_cast<double>(flushed(a))));
           }),
           close(2)},
          {"v_exp_f32 v8, v1", floats([](float a, float, float) { return a < -126 ? 0.0f : std::exp2(a); }), close(4)},
      },
      Values::f32, 24);
}

TEST(VectorFloat, compares) {
  auto lanes = [](auto f) { return compare_lanes([f](uint32_t a, uint32_t b) { return f(f32(a), f32(b)); }); };
  auto klass = [](float v) {
    const bool minus = std::signbit(v);
    switch (std::fpclassify(v)) {
      case FP_NAN:
        return (std::bit_cast<uint32_t>(v) & 0x400000) != 0 ? 2u : 1u;
      case FP_INFINITE:
        return minus ? 4u : 0x200u;
      case FP_NORMAL:
        return minus ? 8u : 0x100u;
      case FP_SUBNORMAL:
        return minus ? 0x10u : 0x80u;
      default:
        return minus ? 0x20u : 0x40u;
    }
  };
  check(
      {
          {"v_cmp_lt_f32 {m}, v1, v2", lanes([](float a, float b) { return a < b; })},
          {"v_cmp_ge_f32 {m}, v1, v2", lanes([](float a, float b) { return a >= b; })},
          {"v_cmp_lg_f32 {m}, v1, v2", lanes([](float a, float b) { return a < b || a > b; })},
          {"v_cmp_o_f32 {m}, v1, v2", lanes([](float a, float b) { return !std::isunordered(a, b); })},
          {"v_cmp_u_f32 {m}, v1, v2", lanes([](float a, float b) { return std::isunordered(a, b); })},
          {"v_cmp_nge_f32 {m}, v1, v2", lanes([](float a, float b) { return !(a >= b); })},
          {"v_cmp_nlg_f32 {m}, v1, v2", lanes([](float a, float b) { return !(a < b || a > b); })},
          {"v_cmp_ngt_f32 {m}, v1, v2", lanes([](float a, float b) { return !(a > b); })},
          {"v_cmp_nle_f32 {m}, v1, v2", lanes([](float a, float b) { return !(a <= b); })},
          {"v_cmp_neq_f32 {m}, v1, v2", lanes([](float a, float b) { return !(a == b); })},
          {"v_cmp_nlt_f32 {m}, v1, v2", lanes([](float a, float b) { return !(a < b); })},
          {"v_cmp_eq_f32 {m}, -v1, v1", lanes([](float a, float) { return -a == a; })},
          {"v_cmp_class_f32 {m}, v1, v2",
           compare_lanes([=](uint32_t a, uint32_t b) { return (klass(f32(a)) & b) != 0; })},
          {"v_cmp_class_f32 {m}, v1, 0x1f8",
           compare_lanes([=](uint32_t a, uint32_t) { return (klass(f32(a)) & 0x1f8) != 0; })},
          {"v_cmp_class_f32 {m}, v1, 0x204",
           compare_lanes([=](uint32_t a, uint32_t) { return (klass(f32(a)) & 0x204) != 0; })},
          {"v_cmp_class_f32 {m}, v1, 0x26b",
           compare_lanes([=](uint32_t a, uint32_t) { return (klass(f32(a)) & 0x26b) != 0; })},
      },
      Values::f32, 24);
}

TEST(VectorFloat, doubles) {
  check(
      {
          {"v_add_f64 v[8:9], v[2:3], v[4:5]", doubles([](double a, double b, double) { return a + b; }), kF64},
          {"v_mul_f64 v[8:9], v[2:3], -v[4:5]", doubles([](double a, double b, double) { return a * -b; }), kF64},
          {"v_fma_f64 v[8:9], v[2:3], v[4:5], v[6:7]",
           doubles([](double a, double b, double c) { return std::fma(a, b, c); }),
           // Where the device does not fuse, a product that underflows rounds twice (docs/decisions/022).
           Comparison{Comparison::As::f64, test_device()->facts().fuses_fma ? 0u : 1u}},
          {"v_min_f64 v[8:9], v[2:3], v[4:5]", doubles([](double a, double b, double) { return smaller(a, b); }), kF64},
          {"v_floor_f64 v[8:9], v[2:3]", doubles([](double a, double, double) { return std::floor(a); }), kF64},
          {"v_trunc_f64 v[8:9], v[2:3]", doubles([](double a, double, double) { return std::trunc(a); }), kF64},
          {"v_rndne_f64 v[8:9], v[2:3]", doubles([](double a, double, double) { return std::nearbyint(a); }), kF64},
          {"v_ldexp_f64 v[8:9], v[2:3], s1",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l)) {
                 set_wide(s, 8, l,
                          std::bit_cast<uint64_t>(std::ldexp(f64(wide(s, 2, l)), static_cast<int>(s.sgprs[1]))));
               }
             }
           },
           kF64},
          {"v_frexp_mant_f64 v[8:9], v[2:3]", doubles([](double a, double, double) {
             int e;
             return std::isfinite(a) ? std::frexp(a, &e) : a;
           }),
           kF64},
          {"v_frexp_exp_i32_f64 v8, v[2:3]",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (!lane_on(s.exec, l)) continue;
               int e = 0;
               if (std::isfinite(f64(wide(s, 2, l)))) std::frexp(f64(wide(s, 2, l)), &e);
               s.vgprs[8][l] = static_cast<uint32_t>(e);
             }
           }},
          {"v_cvt_i32_f64 v8, v[2:3]",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (!lane_on(s.exec, l)) continue;
               const double d = f64(wide(s, 2, l));
               s.vgprs[8][l] =
                   std::isnan(d)
                       ? 0
                       : static_cast<uint32_t>(static_cast<int64_t>(std::clamp(d, -2147483648.0, 2147483647.0)));
             }
           }},
          {"v_cvt_u32_f64 v8, v[2:3]",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (!lane_on(s.exec, l)) continue;
               const double d = f64(wide(s, 2, l));
               s.vgprs[8][l] = std::isnan(d) ? 0 : static_cast<uint32_t>(std::clamp(d, 0.0, 4294967295.0));
             }
           }},
          {"v_cvt_f32_f64 v8, v[2:3]",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l)) s.vgprs[8][l] = std::bit_cast<uint32_t>(static_cast<float>(f64(wide(s, 2, l))));
             }
           },
           kF32},
          {"v_rcp_f64 v[8:9], v[2:3]", doubles([](double a, double, double) { return 1 / a; }),
           Comparison{Comparison::As::f64, 1}},
          {"v_sqrt_f64 v[8:9], v[2:3]", doubles([](double a, double, double) { return std::sqrt(a); }),
           Comparison{Comparison::As::f64, 1}},
          {"v_cmp_lt_f64 {m}, v[2:3], v[4:5]",
           [](WaveState& s) {
             uint64_t mask = 0;
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l) && f64(wide(s, 2, l)) < f64(wide(s, 4, l))) mask |= 1ull << l;
             }
             set_mask(s, 16, mask);
           }},
      },
      Values::f64, 24);
}

}  // namespace
}  // namespace orrery::shader::semantics::test
