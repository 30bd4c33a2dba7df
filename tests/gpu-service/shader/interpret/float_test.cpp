#include <gtest/gtest.h>
#include <cmath>
#include <limits>
#include <random>

#include "tests/gpu-service/shader/interpret/assembled.hpp"

namespace orrery::shader::testing {
namespace {

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
float number(uint32_t x) { return std::bit_cast<float>(x); }

Values floats(uint32_t seed) {
  std::mt19937 random(seed);
  constexpr uint32_t kSpecial[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                   0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0x7fc00000};
  return each_lane(32, [&](uint32_t lane) {
    if (lane < std::size(kSpecial)) return kSpecial[(lane + seed * 5) % std::size(kSpecial)];
    return lane % 2 == 0 ? static_cast<uint32_t>(random()) : bits(static_cast<float>(random()) / 1e8f - 20.0f);
  });
}

// All NaNs are one.
void expect_same(uint32_t got, uint32_t wanted, const std::string& what) {
  if (std::isnan(number(got)) && std::isnan(number(wanted))) return;
  EXPECT_EQ(got, wanted) << what << ": " << number(got) << " instead of " << number(wanted);
}

void check(const std::string& text, const std::function<uint32_t(uint32_t, uint32_t, uint32_t)>& expected,
           Snippet snippet = {}) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    snippet.vgprs = {floats(seed), floats(seed + 7), floats(seed + 15), {}};
    const Result result = run_snippet(text, snippet);
    ASSERT_FALSE(result.outcome.refusal) << text << ": " << result.outcome.refusal->reason;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t a = snippet.vgprs[0][lane], b = snippet.vgprs[1][lane], c = snippet.vgprs[2][lane];
      expect_same(result.vgprs[0][lane], expected(a, b, c),
                  text + " of " + std::to_string(number(a)) + ", " + std::to_string(number(b)) + ", " +
                      std::to_string(number(c)));
    }
  }
}

// LLVM's expansion of an exact 32-bit division.
constexpr const char* kDivision = R"(
v_div_scale_f32 v5, s20, v2, v2, v1
v_div_scale_f32 v6, vcc_lo, v1, v2, v1
v_rcp_f32 v7, v5
v_fma_f32 v8, -v5, v7, 1.0
v_fma_f32 v7, v8, v7, v7
v_mul_f32 v8, v6, v7
v_fma_f32 v9, -v5, v8, v6
v_fma_f32 v8, v9, v7, v8
v_fma_f32 v5, -v5, v8, v6
v_div_fmas_f32 v5, v5, v7, v8
v_div_fixup_f32 v10, v5, v2, v1
)";

TEST(InterpretedFloats, division_by_scale_fmas_and_fixup_is_exact) {
  check(kDivision, [](auto a, auto b, auto) { return bits(number(a) / number(b)); });
}

TEST(InterpretedFloats, division_reaches_the_ends_of_the_range) {
  Snippet snippet;
  const auto pairs = [](uint32_t lane, bool denominator) {
    constexpr float kPairs[][2] = {{0x1p100f, 0x1p-20f},     {0x1.8p120f, 0x1.4p-7f}, {0x1p-100f, 0x1p25f},
                                   {0x1.2p-120f, 0x1.9p10f}, {0x1p127f, 0x1p-126f},   {1.0f, 0x1p127f},
                                   {0x1p-126f, 3.0f},        {5.0f, 0x1.cp126f}};
    return bits(kPairs[lane % 8][denominator ? 1 : 0]);
  };
  snippet.vgprs[0] = each_lane(32, [&](uint32_t lane) { return pairs(lane, false); });
  snippet.vgprs[1] = each_lane(32, [&](uint32_t lane) { return pairs(lane, true); });
  const Result result = run_snippet(kDivision, snippet);
  for (uint32_t lane = 0; lane < 8; ++lane) {
    expect_same(result.vgprs[0][lane], bits(number(snippet.vgprs[0][lane]) / number(snippet.vgprs[1][lane])),
                "pair " + std::to_string(lane));
  }
}

TEST(InterpretedFloats, fused_multiply_add_rounds_once) {
  check("v_fma_f32 v10, v1, v2, v3", [](auto a, auto b, auto c) {
    const long double exact = static_cast<long double>(number(a)) * number(b);  // 48 bits: exact in 64
    const auto sum = exact + number(c);
    // Only where the sum is exact as well does one conversion say what fused means; elsewhere the library's.
    return sum - exact == number(c) && sum - number(c) == exact ? bits(static_cast<float>(sum))
                                                                : bits(std::fma(number(a), number(b), number(c)));
  });
  Snippet snippet;
  snippet.vgprs = {
      Values(32, bits(1.0f + 0x1p-12f)), Values(32, bits(1.0f + 0x1p-12f)), Values(32, bits(-1.0f - 0x1p-11f)), {}};
  EXPECT_EQ(run_snippet("v_fma_f32 v10, v1, v2, v3", snippet).vgprs[0][0], bits(0x1p-24f));
  EXPECT_EQ(run_snippet("v_mad_f32 v10, v1, v2, v3", snippet).vgprs[0][0], bits(0.0f));
}

TEST(InterpretedFloats, minimum_and_maximum_prefer_numbers_and_order_zeros) {
  check("v_min_f32 v10, v1, v2", [](auto a, auto b, auto) {
    if (std::isnan(number(a))) return b;
    if (std::isnan(number(b))) return a;
    if (number(a) == number(b)) return a | b;
    return number(a) < number(b) ? a : b;
  });
  check("v_max_f32 v10, v1, v2", [](auto a, auto b, auto) {
    if (std::isnan(number(a))) return b;
    if (std::isnan(number(b))) return a;
    if (number(a) == number(b)) return a & b;
    return number(a) > number(b) ? a : b;
  });
}

TEST(InterpretedFloats, ieee_mode_gives_the_quiet_form_of_a_signaling_nan) {
  Snippet snippet;
  snippet.vgprs = {Values(32, 0x7f800001), Values(32, bits(2.0f)), {}, {}};
  EXPECT_EQ(run_snippet("v_max_f32 v10, v1, v2", snippet).vgprs[0][0], bits(2.0f));
  snippet.ieee = true;
  EXPECT_EQ(run_snippet("v_max_f32 v10, v1, v2", snippet).vgprs[0][0], 0x7fc00001u);
}

TEST(InterpretedFloats, median_of_three) {
  check("v_med3_f32 v10, v1, v2, v3", [](auto a, auto b, auto c) {
    const float x = number(a), y = number(b), z = number(c);
    if (std::isnan(x) || std::isnan(y) || std::isnan(z)) {
      const float low = std::isnan(x) ? y : std::isnan(y) ? x : std::min(x, y);
      return bits(std::isnan(low) ? z : std::isnan(z) ? low : std::min(low, z));
    }
    std::array<uint32_t, 3> sorted{a, b, c};
    std::sort(sorted.begin(), sorted.end(), [](uint32_t p, uint32_t q) {
      return number(p) == number(q) ? std::signbit(number(p)) && !std::signbit(number(q)) : number(p) < number(q);
    });
    return sorted[1];
  });
}

TEST(InterpretedFloats, denormal_modes_flush_inputs_and_results_apart) {
  Snippet snippet;
  snippet.vgprs = {Values(32, 0x00400000), Values(32, bits(0.5f)), Values(32, bits(0x1p-126f)), {}};
  const auto mode = [&](uint32_t denormals, const char* text) {
    snippet.float_mode = denormals << 4;
    return run_snippet(text, snippet).vgprs[0][0];
  };
  EXPECT_EQ(mode(3, "v_add_f32 v10, v1, v1"), 0x00800000u);
  EXPECT_EQ(mode(2, "v_add_f32 v10, v1, v1"), 0u);  // the inputs are flushed
  EXPECT_EQ(mode(1, "v_mul_f32 v10, v3, v2"), 0u);  // the result is flushed
  EXPECT_EQ(mode(3, "v_mul_f32 v10, v3, v2"), 0x00400000u);
  EXPECT_EQ(mode(0, "s_denorm_mode 3\nv_mul_f32 v10, v3, v2"), 0x00400000u);
}

TEST(InterpretedFloats, rounding_modes) {
  Snippet snippet;
  snippet.vgprs = {Values(32, bits(1.0f)), Values(32, bits(0x1p-30f)), {}, {}};
  const auto rounded = [&](const char* text) { return number(run_snippet(text, snippet).vgprs[0][0]); };
  const float above = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(rounded("v_add_f32 v10, v1, v2"), 1.0f);
  EXPECT_EQ(rounded("s_round_mode 1\nv_add_f32 v10, v1, v2"), above);
  EXPECT_EQ(rounded("s_round_mode 2\nv_add_f32 v10, v1, v2"), 1.0f);
  EXPECT_EQ(rounded("s_round_mode 3\nv_sub_f32 v10, v1, v2"), std::nextafter(1.0f, 0.0f));
  EXPECT_EQ(rounded("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\nv_add_f32 v10, v1, v2"), above);
}

TEST(InterpretedFloats, clamp_and_output_modifiers) {
  Snippet snippet;
  snippet.dx10_clamp = true;
  check(
      "v_add_f32 v10, v1, v2 clamp",
      [](auto a, auto b, auto) {
        const float sum = number(a) + number(b);
        return bits(sum > 0 ? std::min(sum, 1.0f) : 0.0f);
      },
      snippet);
  snippet.float_mode = 0;
  snippet.vgprs = {Values(32, bits(3.0f)), Values(32, bits(0.5f)), {}, {}};
  EXPECT_EQ(run_snippet("v_mul_f32 v10, v1, v2 mul:4", snippet).vgprs[0][0], bits(6.0f));
  EXPECT_EQ(run_snippet("v_mul_f32 v10, v1, v2 div:2", snippet).vgprs[0][0], bits(0.75f));
}

TEST(InterpretedFloats, conversions_saturate) {
  check("v_cvt_i32_f32 v10, v1", [](auto a, auto, auto) {
    const double x = number(a);
    if (std::isnan(x)) return 0u;
    return static_cast<uint32_t>(static_cast<int32_t>(std::trunc(std::max(-2147483648.0, std::min(x, 2147483647.0)))));
  });
  check("v_cvt_u32_f32 v10, v1", [](auto a, auto, auto) {
    const double x = number(a);
    return std::isnan(x) ? 0u : static_cast<uint32_t>(std::trunc(std::max(0.0, std::min(x, 4294967295.0))));
  });
}

TEST(InterpretedFloats, classes_are_told_apart) {
  // Every class alone: the mask of each value's class must be the one expected.
  constexpr std::pair<uint32_t, unsigned> kClasses[] = {
      {0x7f800001, 0}, {0x7fc00000, 1}, {0xff800000, 2}, {0xbf800000, 3}, {0x80000001, 4},
      {0x80000000, 5}, {0, 6},          {1, 7},          {0x3f800000, 8}, {0x7f800000, 9}};
  for (const auto& [value, number_of_class] : kClasses) {
    Snippet snippet;
    snippet.vgprs = {Values(32, value), each_lane(32, [](uint32_t lane) { return 1u << (lane % 16); }), {}, {}};
    const Result result = run_snippet("v_cmp_class_f32 vcc_lo, v1, v2\nv_cndmask_b32 v10, 0, 1, vcc_lo", snippet);
    for (uint32_t lane = 0; lane < 16; ++lane) {
      EXPECT_EQ(result.vgprs[0][lane], lane == number_of_class ? 1u : 0u) << std::hex << value << " class " << lane;
    }
  }
}

TEST(InterpretedFloats, halves_round_to_nearest_even_from_every_side) {
  // Every half times one is itself; sums and products against a float computation that is exact before its rounding.
  Snippet snippet;
  for (uint32_t base = 0; base < 0x10000; base += 0x7ff) {
    snippet.vgprs[0] = each_lane(32, [&](uint32_t lane) { return (base + lane * 37) & 0xffff; });
    snippet.vgprs[1] = Values(32, 0x3c00);
    const Result result = run_snippet("v_mul_f16 v10, v1, v2\nv_cvt_f32_f16 v11, v1\nv_cvt_f16_f32 v12, v11", snippet);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t half = snippet.vgprs[0][lane];
      if ((half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0) continue;
      EXPECT_EQ(result.vgprs[0][lane] & 0xffff, half);
      EXPECT_EQ(result.vgprs[2][lane] & 0xffff, half);
    }
  }
  snippet.vgprs[0] = Values(32, bits(1.0f + 0x1p-11f));  // a tie: down to even
  EXPECT_EQ(run_snippet("v_cvt_f16_f32 v10, v1", snippet).vgprs[0][0], 0x3c00u);
  snippet.vgprs[0] = Values(32, bits(1.0f + 0x1p-11f + 0x1p-20f));  // above it: up
  EXPECT_EQ(run_snippet("v_cvt_f16_f32 v10, v1", snippet).vgprs[0][0], 0x3c01u);
  snippet.vgprs[0] = Values(32, bits(65520.0f));  // to infinity
  EXPECT_EQ(run_snippet("v_cvt_f16_f32 v10, v1", snippet).vgprs[0][0], 0x7c00u);
  EXPECT_EQ(run_snippet("v_cvt_pkrtz_f16_f32 v10, v1, v1", snippet).vgprs[0][0], 0x7bff7bffu);
}

TEST(InterpretedFloats, doubles_divide_through_their_own_sequence) {
  // v[1:2] / v[3:4].
  constexpr const char* kText = R"(
v_div_scale_f64 v[20:21], s20, v[3:4], v[3:4], v[1:2]
v_div_scale_f64 v[22:23], vcc_lo, v[1:2], v[3:4], v[1:2]
v_rcp_f64 v[24:25], v[20:21]
v_fma_f64 v[26:27], -v[20:21], v[24:25], 1.0
v_fma_f64 v[24:25], v[24:25], v[26:27], v[24:25]
v_mul_f64 v[26:27], v[22:23], v[24:25]
v_fma_f64 v[28:29], -v[20:21], v[26:27], v[22:23]
v_div_fmas_f64 v[28:29], v[28:29], v[24:25], v[26:27]
v_div_fixup_f64 v[10:11], v[28:29], v[3:4], v[1:2]
)";
  constexpr double kPairs[][2] = {{1, 3}, {-7.5, 1e300}, {1e308, 1e-5}, {1e-300, 1e20},
                                  {0, 5}, {5, 0},        {1e-310, 2},   {0x1.fp1000, 0x1.3p-20}};
  Snippet snippet;
  for (unsigned part = 0; part < 4; ++part) {
    snippet.vgprs[part] = each_lane(32, [&](uint32_t lane) {
      return static_cast<uint32_t>(std::bit_cast<uint64_t>(kPairs[lane % 8][part / 2]) >> (32 * (part % 2)));
    });
  }
  const Result result = run_snippet(kText, snippet);
  ASSERT_FALSE(result.outcome.refusal) << result.outcome.refusal->reason;
  for (uint32_t lane = 0; lane < 8; ++lane) {
    const auto got = std::bit_cast<double>(result.vgprs[0][lane] | uint64_t{result.vgprs[1][lane]} << 32);
    EXPECT_EQ(got, kPairs[lane][0] / kPairs[lane][1]) << "pair " << lane;
  }
}

TEST(InterpretedFloats, halves_scaled_far_out_of_range_round_as_mode_says) {
  Snippet snippet;
  snippet.vgprs[0] = each_lane(32, [](uint32_t) { return 0x3c00u; });  // 1
  snippet.sgprs[2] = 0x4000;
  snippet.sgprs[3] = static_cast<uint32_t>(-0x4000);
  const std::string text = "v_ldexp_f16 v10, v1, s2\nv_ldexp_f16 v11, v1, s3\nv_ldexp_f16 v12, -v1, s3";
  constexpr uint32_t kUp = 1, kTowardZero = 3;
  snippet.float_mode = 0xf0 | kTowardZero << 2;
  Result result = run_snippet(text, snippet);
  EXPECT_EQ(result.vgprs[0][0], 0x7bffu);
  EXPECT_EQ(result.vgprs[1][0], 0u);
  snippet.float_mode = 0xf0 | kUp << 2;
  result = run_snippet(text, snippet);
  EXPECT_EQ(result.vgprs[0][0], 0x7c00u);
  EXPECT_EQ(result.vgprs[1][0], 1u);
  EXPECT_EQ(result.vgprs[2][0], 0x8000u);
}

}  // namespace
}  // namespace orrery::shader::testing
