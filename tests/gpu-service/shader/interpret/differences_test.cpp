// Sums of absolute differences, saturation, and the digits of 2 / pi, against host code written from the ISA document.
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <random>

#include "tests/gpu-service/shader/interpret/assembled.hpp"

namespace orrery::shader::testing {
namespace {

uint32_t byte(uint64_t v, unsigned n) { return static_cast<uint32_t>(v >> (8 * n)) & 255; }

Values random_words(uint32_t seed) {
  std::mt19937 random(seed);
  return each_lane(32, [&](uint32_t lane) {
    return lane % 4 == 0 ? 0xffffffffu << (lane / 4) : lane % 4 == 1 ? random() & 0xff00ff : random();
  });
}

uint64_t sum(uint32_t window, uint32_t reference, bool masked) {
  uint64_t total = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const int x = static_cast<int>(byte(window, n)), y = static_cast<int>(byte(reference, n));
    if (!masked || y != 0) total += static_cast<uint64_t>(std::abs(x - y));
  }
  return total;
}

struct Inputs {
  Snippet snippet;
  Inputs() { snippet.vgprs = {random_words(1), random_words(2), random_words(3), random_words(4)}; }
  uint64_t window(uint32_t lane) const { return snippet.vgprs[0][lane] | uint64_t{snippet.vgprs[1][lane]} << 32; }
};

TEST(InterpretedDifferences, packed_sums_slide_a_window_over_eight_bytes) {
  for (const bool masked : {false, true}) {
    for (const bool clamp : {false, true}) {
      const Inputs in;
      const std::string text = std::string("v_mov_b32 v6, v4\nv_mov_b32 v7, v3\n") +
                               (masked ? "v_mqsad_pk_u16_u8" : "v_qsad_pk_u16_u8") + " v[10:11], v[1:2], v3, v[6:7]" +
                               (clamp ? " clamp" : "");
      const Result result = run_snippet(text, in.snippet);
      ASSERT_FALSE(result.outcome.refusal) << result.outcome.refusal->reason;
      for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t reference = in.snippet.vgprs[2][lane];
        const uint64_t before = in.snippet.vgprs[3][lane] | uint64_t{reference} << 32;
        for (unsigned n = 0; n < 4; ++n) {
          const uint64_t exact =
              sum(static_cast<uint32_t>(in.window(lane) >> (8 * n)), reference, masked) + (before >> (16 * n) & 0xffff);
          const uint32_t got = result.vgprs[n / 2][lane] >> (16 * (n % 2)) & 0xffff;
          EXPECT_EQ(got, clamp ? std::min<uint64_t>(exact, 0xffff) : exact & 0xffff) << text << " lane " << lane;
        }
      }
    }
  }
}

TEST(InterpretedDifferences, wide_sums_have_four_registers) {
  const Inputs in;
  const Result result = run_snippet(
      "v_mov_b32 v20, 1\nv_mov_b32 v21, v4\nv_mov_b32 v22, -1\nv_mov_b32 v23, v1\n"
      "v_mqsad_u32_u8 v[10:13], v[1:2], v3, v[20:23] clamp",
      in.snippet);
  ASSERT_FALSE(result.outcome.refusal) << result.outcome.refusal->reason;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t before[] = {1, in.snippet.vgprs[3][lane], 0xffffffff};
    for (unsigned n = 0; n < 3; ++n) {
      const uint64_t exact =
          sum(static_cast<uint32_t>(in.window(lane) >> (8 * n)), in.snippet.vgprs[2][lane], true) + before[n];
      EXPECT_EQ(result.vgprs[n][lane], std::min<uint64_t>(exact, 0xffffffff)) << "lane " << lane << ", sum " << n;
    }
  }
}

TEST(InterpretedDifferences, clamp_saturates_sums_and_products) {
  const Inputs in;
  const Result result = run_snippet(
      "v_sad_u16 v10, v1, v2, -1 clamp\nv_mul_i32_i24_e64 v11, v1, v2 clamp\nv_mad_u32_u24 v12, v1, v2, -1 clamp",
      in.snippet);
  ASSERT_FALSE(result.outcome.refusal) << result.outcome.refusal->reason;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t a = in.snippet.vgprs[0][lane], b = in.snippet.vgprs[1][lane];
    const auto low = [](uint32_t v) { return static_cast<int64_t>(static_cast<int32_t>(v << 8) >> 8); };
    EXPECT_EQ(result.vgprs[0][lane], 0xffffffffu);
    EXPECT_EQ(result.vgprs[1][lane], static_cast<uint32_t>(std::clamp<int64_t>(low(a) * low(b), INT32_MIN, INT32_MAX)));
    EXPECT_EQ(result.vgprs[2][lane], 0xffffffffu);
  }
  const Result wide = run_snippet(
      "v_mov_b32 v20, -1\nv_mov_b32 v21, -1\nv_mad_u64_u32 v[10:11], vcc_lo, 1, 1, v[20:21] clamp\n"
      "v_bfrev_b32 v21, -2\nv_mad_i64_i32 v[12:13], vcc_lo, 1, 1, v[20:21] clamp",
      in.snippet);
  EXPECT_EQ(wide.vgprs[0][5], 0xffffffffu);
  EXPECT_EQ(wide.vgprs[1][5], 0xffffffffu);
  EXPECT_EQ(wide.vgprs[2][5], 0xffffffffu);  // the low half of 2^63 - 1
}

TEST(InterpretedDifferences, segments_of_two_over_pi_add_up) {
  Snippet snippet;
  snippet.vgprs[0] = each_lane(32, [](uint32_t lane) { return lane; });
  const Result result = run_snippet(
      "v_mov_b32 v20, 0\nv_mov_b32 v21, 0x3ff00000\n"
      "v_trig_preop_f64 v[10:11], v[20:21], v1",
      snippet);
  ASSERT_FALSE(result.outcome.refusal) << result.outcome.refusal->reason;
  const auto segment = [&](uint32_t lane) {
    return std::bit_cast<double>(result.vgprs[0][lane] | uint64_t{result.vgprs[1][lane]} << 32);
  };
  // To the 64 bits that the host's widest type has.
  const long double sum = static_cast<long double>(segment(0)) + segment(1);
  EXPECT_EQ(sum, 0x1.45f306dc9c882a54p-1L);
  // Cut off, not rounded: each is below, within one unit of its last place.
  EXPECT_EQ(segment(0), 0x1.45f306dc9c882p-1);
  EXPECT_GT(segment(19), 0);
  EXPECT_EQ(segment(23), 0);  // behind the 1,201 bits
  // An exponent of 1077 + 3 starts three bits further on.
  const Result moved = run_snippet(
      "v_mov_b32 v20, 0\nv_mov_b32 v21, 0x43800000\n"
      "v_trig_preop_f64 v[10:11], v[20:21], 0",
      snippet);
  const double got = std::bit_cast<double>(moved.vgprs[0][0] | uint64_t{moved.vgprs[1][0]} << 32);
  const auto digits = [&](uint32_t n, int scale) { return static_cast<uint64_t>(std::ldexp(segment(n), scale)); };
  const uint64_t wanted = (digits(0, 53) & ((1ull << 50) - 1)) << 3 | digits(1, 106) >> 50;
  EXPECT_EQ(std::ldexp(got, 56), static_cast<double>(wanted));
}

}  // namespace
}  // namespace orrery::shader::testing
