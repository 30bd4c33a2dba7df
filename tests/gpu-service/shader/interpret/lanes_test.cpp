#include <gtest/gtest.h>
#include <bit>

#include "tests/gpu-service/shader/interpret/assembled.hpp"

namespace orrery::shader::testing {
namespace {

Values numbered(uint32_t wave) {
  return each_lane(wave, [](uint32_t lane) { return 100 + lane; });
}

TEST(InterpretedLanes, mbcnt_counts_the_mask_bits_below_each_lane) {
  for (const uint32_t wave : {32u, 64u}) {
    Snippet snippet;
    snippet.wave = wave;
    snippet.sgprs = {{2, 0x80f0f0f1}, {3, 0x12345678}};
    const Result result = run_snippet("v_mbcnt_lo_u32_b32 v10, s2, 5\nv_mbcnt_hi_u32_b32 v10, s3, v10", snippet);
    const uint64_t mask = 0x1234567880f0f0f1;
    for (uint32_t lane = 0; lane < wave; ++lane) {
      uint32_t expected = 5;
      for (uint32_t i = 0; i < lane; ++i) {
        expected += mask >> i & 1;
      }
      EXPECT_EQ(result.vgprs[0][lane], expected) << "lane " << lane << " of " << wave;
    }
  }
}

TEST(InterpretedLanes, readlane_reads_inactive_lanes_and_wraps_its_selector) {
  Snippet snippet;
  snippet.vgprs[0] = numbered(32);
  snippet.sgprs = {{2, 37}};
  // Lane 5 is inactive when it is read; 37 wraps to 5 in wave32.
  const Result result = run_snippet(
      "s_mov_b32 s20, exec_lo\ns_mov_b32 exec_lo, 0xffffff00\nv_readlane_b32 s21, v1, s2\n"
      "v_readfirstlane_b32 s22, v1\ns_mov_b32 exec_lo, s20\nv_mov_b32 v10, s21\nv_mov_b32 v11, s22",
      snippet);
  EXPECT_EQ(result.vgprs[0][0], 105u);
  EXPECT_EQ(result.vgprs[1][0], 108u);
}

TEST(InterpretedLanes, readfirstlane_of_no_active_lane_reads_lane_0) {
  Snippet snippet;
  snippet.vgprs[0] = numbered(32);
  const Result result = run_snippet(
      "s_mov_b32 s20, exec_lo\ns_mov_b32 exec_lo, 0\nv_readfirstlane_b32 s22, v1\n"
      "s_mov_b32 exec_lo, s20\nv_mov_b32 v10, s22",
      snippet);
  EXPECT_EQ(result.vgprs[0][3], 100u);
}

TEST(InterpretedLanes, writelane_writes_an_inactive_lane) {
  Snippet snippet;
  snippet.vgprs[0] = numbered(32);
  snippet.sgprs = {{2, 7}, {3, 9}};
  const Result result = run_snippet(
      "v_mov_b32 v10, v1\ns_mov_b32 s20, exec_lo\ns_mov_b32 exec_lo, 1\nv_writelane_b32 v10, s2, s3\n"
      "s_mov_b32 exec_lo, s20",
      snippet);
  EXPECT_EQ(result.vgprs[0][9], 7u);
  EXPECT_EQ(result.vgprs[0][8], 108u);
}

// What DPP reads, worked out from the ISA document's table by hand.
TEST(InterpretedLanes, dpp_rows_shift_rotate_mirror_and_share) {
  struct Case {
    const char* control;
    int (*source)(int lane);  // -1: none
  };
  constexpr Case kCases[] = {
      {"quad_perm:[3,1,0,2]",
       [](int lane) {
         constexpr int kTo[] = {3, 1, 0, 2};
         return lane / 4 * 4 + kTo[lane % 4];
       }},
      {"row_shl:3", [](int lane) { return lane % 16 <= 12 ? lane + 3 : -1; }},
      {"row_shr:5", [](int lane) { return lane % 16 >= 5 ? lane - 5 : -1; }},
      {"row_ror:4", [](int lane) { return lane / 16 * 16 + (lane % 16 + 12) % 16; }},
      {"row_mirror", [](int lane) { return lane / 16 * 16 + 15 - lane % 16; }},
      {"row_half_mirror", [](int lane) { return lane / 8 * 8 + 7 - lane % 8; }},
      {"row_share:11", [](int lane) { return lane / 16 * 16 + 11; }},
      {"row_xmask:6", [](int lane) { return lane ^ 6; }},
  };
  for (const Case& one : kCases) {
    Snippet snippet;
    snippet.vgprs[0] = numbered(32);
    const Result kept = run_snippet(
        std::string("v_mov_b32 v10, 1\nv_mov_b32_dpp v10, v1 ") + one.control + " row_mask:0xf bank_mask:0xf", snippet);
    const Result zeroed = run_snippet(std::string("v_mov_b32 v10, 1\nv_mov_b32_dpp v10, v1 ") + one.control +
                                          " row_mask:0xf bank_mask:0xf bound_ctrl:0",
                                      snippet);
    for (int lane = 0; lane < 32; ++lane) {
      const int source = one.source(lane);
      const auto at = static_cast<size_t>(lane);
      EXPECT_EQ(kept.vgprs[0][at], source < 0 ? 1u : 100u + static_cast<uint32_t>(source))
          << one.control << " lane " << lane;
      EXPECT_EQ(zeroed.vgprs[0][at], source < 0 ? 0u : 100u + static_cast<uint32_t>(source))
          << one.control << " lane " << lane;
    }
  }
}

TEST(InterpretedLanes, dpp_row_and_bank_masks_keep_the_result) {
  Snippet snippet;
  snippet.wave = 64;
  snippet.vgprs[0] = numbered(64);
  const Result result = run_snippet(
      "v_mov_b32 v10, 1\nv_mov_b32_dpp v10, v1 row_share:0 row_mask:0x5 bank_mask:0x9 bound_ctrl:0", snippet);
  for (uint32_t lane = 0; lane < 64; ++lane) {
    const bool row = lane / 16 == 0 || lane / 16 == 2, bank = lane / 4 % 4 == 0 || lane / 4 % 4 == 3;
    EXPECT_EQ(result.vgprs[0][lane], row && bank ? 100 + lane / 16 * 16 : 1u) << "lane " << lane;
  }
}

TEST(InterpretedLanes, dpp_reads_inactive_lanes_only_when_asked) {
  Snippet snippet;
  snippet.vgprs[0] = numbered(32);
  const auto run = [&](const char* rest) {
    return run_snippet(
               std::string("v_mov_b32 v10, 1\ns_mov_b32 s20, exec_lo\ns_mov_b32 exec_lo, 0xffff0000\n"
                           "v_mov_b32_dpp v10, v1 row_share:1 row_mask:0xf bank_mask:0xf") +
                   rest +
                   "\ns_mov_b32 exec_lo, 0xfffffff1\nv_mov_b32_dpp v10, v1 row_share:1 row_mask:0xf bank_mask:0xf" +
                   rest + "\ns_mov_b32 exec_lo, s20",
               snippet)
        .vgprs[0];
  };
  EXPECT_EQ(run("")[4], 1u);               // lane 1 is inactive: the result stays
  EXPECT_EQ(run(" bound_ctrl:0")[4], 0u);  // or 0
  EXPECT_EQ(run(" fi:1")[4], 101u);        // or is read all the same
}

TEST(InterpretedLanes, dpp8_permutes_eight_lanes) {
  Snippet snippet;
  snippet.vgprs[0] = numbered(32);
  const Result result = run_snippet("v_mov_b32_dpp v10, v1 dpp8:[7,0,6,1,5,2,4,3]", snippet);
  constexpr uint32_t kFrom[] = {7, 0, 6, 1, 5, 2, 4, 3};
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(result.vgprs[0][lane], 100 + lane / 8 * 8 + kFrom[lane % 8]);
  }
}

TEST(InterpretedLanes, permlane_reads_the_own_row_or_the_one_beside) {
  Snippet snippet;
  snippet.vgprs[0] = numbered(32);
  snippet.sgprs = {{2, 0x76543210}, {3, 0x89abcdef}};
  const Result result = run_snippet("v_permlane16_b32 v10, v1, s3, s2\nv_permlanex16_b32 v11, v1, s3, s2", snippet);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t selector =
        lane % 16 < 8 ? 0x89abcdefu >> (4 * (lane % 8)) & 15 : 0x76543210u >> (4 * (lane % 8)) & 15;
    EXPECT_EQ(result.vgprs[0][lane], 100 + lane / 16 * 16 + selector);
    EXPECT_EQ(result.vgprs[1][lane], 100 + (1 - lane / 16) * 16 + selector);
  }
}

TEST(InterpretedLanes, swizzle_by_masks_and_by_quads) {
  Snippet snippet;
  snippet.vgprs[0] = numbered(32);
  const Result result = run_snippet(
      "ds_swizzle_b32 v10, v1 offset:swizzle(BITMASK_PERM,\"01pi0\")\n"
      "ds_swizzle_b32 v11, v1 offset:swizzle(QUAD_PERM,2,3,0,1)",
      snippet);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t source = 8 | (lane & 4) | (~lane & 2);
    EXPECT_EQ(result.vgprs[0][lane], 100 + source) << "lane " << lane;
    EXPECT_EQ(result.vgprs[1][lane], 100 + (lane ^ 2));
  }
}

TEST(InterpretedLanes, permutes_go_both_ways) {
  Snippet snippet;
  snippet.vgprs[0] = numbered(32);
  snippet.vgprs[1] = each_lane(32, [](uint32_t lane) { return (lane * 7 + 3) % 32 * 4; });
  const Result result = run_snippet("ds_bpermute_b32 v10, v2, v1\nds_permute_b32 v11, v2, v1", snippet);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(result.vgprs[0][lane], 100 + (lane * 7 + 3) % 32);
    EXPECT_EQ(result.vgprs[1][(lane * 7 + 3) % 32], 100 + lane);
  }
}

TEST(InterpretedLanes, compares_give_0_for_inactive_lanes_and_cmpx_writes_exec_alone) {
  for (const uint32_t wave : {32u, 64u}) {
    Snippet snippet;
    snippet.wave = wave;
    const std::string exec = wave == 32 ? "exec_lo" : "exec", vcc = wave == 32 ? "vcc_lo" : "vcc",
                      b = wave == 32 ? "_b32 " : "_b64 ";
    const std::string saved = wave == 32 ? "s20" : "s[20:21]";
    const Result result =
        run_snippet("v_mov_b32 v10, 0\ns_mov" + b + saved + ", " + exec +
                        "\ns_mov_b32 exec_lo, 0xff\n"
                        "v_cmp_gt_u32 " +
                        vcc + ", 20, v0\nv_mov_b32 v11, vcc_lo\nv_cmpx_lt_u32 3, v0\nv_mov_b32 v10, 1\ns_mov" + b +
                        exec + ", " + saved,
                    snippet);
    EXPECT_EQ(result.vgprs[1][0], 0xffu);
    for (uint32_t lane = 0; lane < wave; ++lane) {
      const bool on = (lane > 3 && lane < 8) || lane >= 32;
      EXPECT_EQ(result.vgprs[0][lane], on ? 1u : 0u) << "lane " << lane << " of " << wave;
    }
  }
}

}  // namespace
}  // namespace orrery::shader::testing
