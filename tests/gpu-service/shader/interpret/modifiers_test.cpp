// What MODE and the modifiers of results do to floats, as the ISA document says it; relative moves by M0.
#include <gtest/gtest.h>
#include <bit>

#include "tests/gpu-service/shader/interpret/assembled.hpp"

namespace orrery::shader::testing {
namespace {

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

uint32_t result_of(const std::string& text, uint32_t a, uint32_t b, Snippet snippet) {
  snippet.vgprs[0] = Values(32, a);
  snippet.vgprs[1] = Values(32, b);
  const Result result = run_snippet(text, snippet);
  EXPECT_FALSE(result.outcome.refusal);
  return result.vgprs[0][3];
}

Snippet with(uint32_t float_mode, bool ieee = false, bool dx10_clamp = false) {
  Snippet snippet;
  snippet.float_mode = float_mode;
  snippet.ieee = ieee;
  snippet.dx10_clamp = dx10_clamp;
  return snippet;
}

TEST(InterpretedModifiers, output_modifiers_need_flushed_denormals_and_no_ieee_mode) {
  const std::string twice = "v_add_f32_e64 v10, v1, v2 mul:2";
  EXPECT_EQ(result_of(twice, bits(1.5f), bits(2), with(0xc0)), bits(7));
  EXPECT_EQ(result_of(twice, bits(1.5f), bits(2), with(0xf0)), bits(3.5f));
  EXPECT_EQ(result_of(twice, bits(1.5f), bits(2), with(0xc0, true)), bits(3.5f));
  EXPECT_EQ(result_of("v_mul_f32_e64 v10, v1, v2 div:2", bits(-0.0f), bits(2), with(0xc0)), 0u);
  EXPECT_EQ(result_of("v_mul_f32_e64 v10, v1, v2", bits(-0.0f), bits(2), with(0xc0)), 0x80000000u);
  EXPECT_EQ(result_of("v_mul_f32_e64 v10, v1, v2 div:2", bits(0x1p-126f), bits(1), with(0xc0)), 0u);
}

TEST(InterpretedModifiers, clamp_of_nan_follows_dx10_clamp) {
  const std::string text = "v_add_f32_e64 v10, v1, v2 clamp";
  EXPECT_EQ(result_of(text, 0x7fc00000, 0, with(0xf0, false, true)), 0u);
  EXPECT_EQ(result_of(text, 0x7fc00000, 0, with(0xf0, false, false)) & 0x7fc00000, 0x7fc00000u);
  EXPECT_EQ(result_of(text, bits(5), 0, with(0xf0)), bits(1));
}

TEST(InterpretedModifiers, ieee_mode_quiets_signaling_nans_in_minimum) {
  const std::string text = "v_min_f32 v10, v1, v2";
  EXPECT_EQ(result_of(text, 0x7f800001, bits(1), with(0xf0, true)), 0x7fc00001u);
  EXPECT_EQ(result_of(text, 0x7f800001, bits(1), with(0xf0, false)), bits(1));
  EXPECT_EQ(result_of(text, 0x7fc00001, bits(1), with(0xf0, true)), bits(1));
}

TEST(InterpretedModifiers, denormals_are_flushed_going_in_and_coming_out) {
  const std::string text = "v_mul_f32 v10, v1, v2";
  EXPECT_EQ(result_of(text, 0x00400000, bits(2), with(0xf0)), 0x00800000u);
  EXPECT_EQ(result_of(text, 0x00400000, bits(2), with(0xe0)), 0u);              // inputs flushed
  EXPECT_EQ(result_of(text, 0x80800000, bits(0.5f), with(0xd0)), 0x80000000u);  // results flushed
  EXPECT_EQ(result_of(text, 0x80800000, bits(0.5f), with(0xe0)), 0x80400000u);
}

TEST(InterpretedModifiers, relative_moves_count_from_the_register_named) {
  Snippet snippet;
  snippet.vgprs[0] = Values(32, 11);
  snippet.vgprs[1] = Values(32, 22);
  const Result result = run_snippet(
      "s_mov_b32 m0, 1\nv_movrels_b32 v10, v1\nv_movreld_b32 v10, v1\n"                        // v10 = v2, v11 = v1
      "v_mov_b32 v20, 5\nv_mov_b32 v21, 6\ns_mov_b32 m0, 0x00010000\nv_swaprel_b32 v20, v1\n"  // v21 and v1
      "v_mov_b32 v12, v21",
      snippet);
  ASSERT_FALSE(result.outcome.refusal) << result.outcome.refusal->reason;
  EXPECT_EQ(result.vgprs[0][0], 22u);
  EXPECT_EQ(result.vgprs[1][0], 11u);
  EXPECT_EQ(result.vgprs[2][0], 11u);
  // Outside: v0, the lane's number, is read; nothing is written.
  const Result outside = run_snippet(
      "v_mov_b32 v10, 7\nv_mov_b32 v11, 7\ns_mov_b32 m0, 0x1000\nv_movrels_b32 v10, v1\nv_movreld_b32 v11, v1",
      snippet);
  EXPECT_EQ(outside.vgprs[0][9], 9u);
  EXPECT_EQ(outside.vgprs[1][9], 7u);
  const Result scalar = run_snippet(
      "s_mov_b32 s40, 3\ns_mov_b32 s41, 4\ns_mov_b32 m0, 1\ns_movrels_b32 s50, s40\ns_movreld_b32 s40, 9\n"
      "v_mov_b32 v10, s50\nv_mov_b32 v11, s41\nv_mov_b32 v12, s40",
      snippet);
  EXPECT_EQ(scalar.vgprs[0][0], 4u);
  EXPECT_EQ(scalar.vgprs[1][0], 9u);
  EXPECT_EQ(scalar.vgprs[2][0], 3u);
}

}  // namespace
}  // namespace orrery::shader::testing
