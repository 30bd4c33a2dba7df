// Edge cases of lanes and masks: each in the interpreter and in every layout.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/differential/test_machine.hpp"

namespace orrery::shader::differential {
namespace {

constexpr const char* kSomeLanes = "s_mov_b32 exec_lo, 0x8421f00f\n";

TEST(LaneEdges, lanes_that_are_off_are_read_and_written) {
  EXPECT_EQ(difference(std::string(kSomeLanes) + R"(v_readlane_b32 s40, v8, 5
v_readlane_b32 s41, v9, 31
v_writelane_b32 v10, s40, 4
v_writelane_b32 v10, s41, 30
v_writelane_b32 v11, 17, 0
v_add_nc_u32 v9, s40, v9
v_add_nc_u32 v10, 1, v10)",
                       {.threads = 0}, true),
            "");
}

TEST(LaneEdges, lane_selectors_wrap) {
  EXPECT_EQ(difference(R"(s_movk_i32 s40, 35
s_movk_i32 s41, -3
s_mov_b32 s42, 0x80000041
v_readlane_b32 s43, v8, s40
v_readlane_b32 s44, v8, s41
v_readlane_b32 s45, v8, s42
v_writelane_b32 v9, s43, s41
v_writelane_b32 v9, s44, s42
v_writelane_b32 v10, s45, s40
v_mov_b32 v11, s45)"),
            "");
}

TEST(LaneEdges, the_first_lane_of_no_lane_is_lane_0) {
  EXPECT_EQ(difference(R"(s_mov_{b} {s40}, {exec}
s_mov_{b} {exec}, 0
v_readfirstlane_b32 s44, v8
s_mov_{b} {exec}, {s40}
v_mov_b32 v9, s44)"),
            "");
}

// Lines for every choice, each mixed into one of v9..v11: one program, because compiling is what a test waits for.
std::string mixed(const std::string& line, uint32_t into) {
  return line + fmt::format("\nv_mul_lo_u32 v{0}, 0x9e3779b1, v{0}\nv_xor_b32 v{0}, v{0}, v12\n", into);
}

TEST(LaneEdges, permlane_reads_lanes_that_are_off_only_where_it_says_so) {
  std::string body =
      std::string("s_mov_b32 s40, 0x76543210\ns_mov_b32 s41, 0x0fedcba9\nv_mov_b32 v12, v9\n") + kSomeLanes;
  uint32_t into = 9;
  for (const char* name : {"v_permlane16_b32", "v_permlanex16_b32"}) {
    for (const char* select : {"", " op_sel:[1,0]", " op_sel:[0,1]", " op_sel:[1,1]"}) {
      body += mixed(fmt::format("{} v12, v8, s40, s41{}", name, select), into);
      body += mixed(fmt::format("{} v12, v8, s20, 3{}", name, select), into + 1);
    }
    ++into;
  }
  EXPECT_EQ(difference(body), "");
}

TEST(LaneEdges, dpp_masks_banks_and_rows) {
  std::string body = std::string("v_mov_b32 v12, v9\n") + kSomeLanes;
  for (const char* control :
       {"row_shr:3", "row_shl:1", "row_mirror", "quad_perm:[3,1,0,2]", "row_share:9", "row_xmask:5"}) {
    for (const char* bounds : {"", " bound_ctrl:0", " fi:1", " bound_ctrl:0 fi:1"}) {
      body += mixed(fmt::format("v_mov_b32_dpp v12, v8 {} row_mask:0xf bank_mask:0x5{}", control, bounds), 9);
      body += mixed(fmt::format("v_add_nc_u32_dpp v12, v8, v10 {} row_mask:0xa bank_mask:0xf{}", control, bounds), 10);
      body += mixed(fmt::format("v_xor_b32_dpp v12, v11, v8 {} row_mask:0x3 bank_mask:0x9{}", control, bounds), 11);
    }
  }
  EXPECT_EQ(difference(body), "");
}

TEST(LaneEdges, a_mask_is_saved_in_lanes_and_restored) {
  EXPECT_EQ(difference(R"(v_cmp_lt_i32 {vcc}, v8, v9
v_mov_b32 v12, 0
s_and_saveexec_{b} {s40}, {vcc}
s_mov_b64 s[42:43], exec
v_writelane_b32 v12, s40, 3
v_writelane_b32 v12, s41, 17
v_writelane_b32 v12, s42, 4
v_writelane_b32 v12, s43, 5
s_mov_{b} {s40}, 0
v_and_b32 v13, 3, v8
top:
v_add_nc_u32 v10, v13, v10
v_sub_nc_u32 v13, v13, 1
v_cmpx_lt_i32 0, v13
s_cbranch_execnz top
v_readlane_b32 s44, v12, 4
v_readlane_b32 s40, v12, 3
v_readlane_b32 s41, v12, 17
v_readlane_b32 s45, v12, 5
s_mov_{b} {exec}, {s44}
v_add_nc_u32 v11, 1, v11
s_or_{b} {exec}, {exec}, {s40}
v_mbcnt_lo_u32_b32 v9, s44, 0
v_cndmask_b32 v8, v8, v9, {s44})"),
            "");
}

TEST(LaneEdges, the_only_matching_lane_is_outside_the_first_subgroup) {
  for (const uint32_t lane : {9u, 31u, 45u}) {
    EXPECT_EQ(difference(fmt::format(R"(v_cmp_eq_u32 {{vcc}}, {0}, v3
s_ff1_i32_{{b}} s46, {{vcc}}
s_bcnt1_i32_{{b}} s47, {{vcc}}
v_mbcnt_lo_u32_b32 v9, vcc_lo, 0
s_cbranch_vccz none
v_add_nc_u32 v10, 100, v10
none:
s_and_saveexec_{{b}} {{s40}}, {{vcc}}
v_readfirstlane_b32 s48, v8
s_cbranch_execz behind
v_mov_b32 v11, s46
behind:
s_or_{{b}} {{exec}}, {{exec}}, {{s40}}
v_add_nc_u32 v8, s48, v8
v_add_nc_u32 v10, s47, v10)",
                                     lane)),
              "")
        << lane;
  }
}

TEST(LaneEdges, halves_of_a_mask_are_written_apart) {
  EXPECT_EQ(difference(R"(v_cmp_lt_i32 {s40}, v8, v9
s_mov_b32 s41, 0x5555aaaa
v_cndmask_b32 v8, v8, v9, {s40}
s_xor_b32 s40, s40, 0x0ff00ff0
v_cndmask_b32 v9, v9, v10, {s40}
v_cmp_gt_u32 {vcc}, 20, v3
s_mov_b32 vcc_hi, s20
v_cndmask_b32 v10, v10, v11, {vcc}
s_not_b32 exec_lo, vcc_lo
v_add_nc_u32 v11, 1, v11
s_mov_b32 exec_lo, -1
v_mov_b32 v9, exec_hi
s_mov_b64 exec, -1)"),
            "");
}

TEST(LaneEdges, a_partial_last_group_meets_at_barriers) {
  // One wave full; a lane of the second; the second wave missing.
  for (const uint32_t total : {64u + 40u, 64u + 32u, 64u + 1u}) {
    EXPECT_EQ(difference(R"(v_lshlrev_b32 v5, 2, v0
ds_write_b32 v5, v8
s_waitcnt lgkmcnt(0)
s_barrier
v_xor_b32 v6, 4, v5
ds_read_b32 v9, v6
s_waitcnt lgkmcnt(0)
s_barrier
ds_write_b32 v5, v9 offset:512
ds_add_rtn_u32 v10, v5, v8
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b32 v11, v5
s_waitcnt lgkmcnt(0)
v_cmp_ne_u32 {vcc}, 0, v11
s_bcnt1_i32_{b} s40, {exec}
v_add_nc_u32 v10, s40, v10
v_cmp_gt_u32 {vcc}, )" + std::to_string(total - 64) +
                             R"(, v6
v_cndmask_b32 v9, 0, v9, {vcc})",
                         {.threads = 64, .groups = 2, .total_threads = total, .lds_bytes = 1024}),
              "")
        << total;
  }
}

TEST(LaneEdges, waves_without_threads_do_nothing_even_with_all_lanes_on) {
  constexpr Launch kMissing{.threads = 128, .groups = 2, .total_threads = 130};
  EXPECT_EQ(difference("s_mov_b64 exec, -1\nv_add_nc_u32 v8, 1, v3\ns_mov_{b} {s34}, {exec}", kMissing), "");
  EXPECT_EQ(difference("s_orn2_saveexec_{b} {s36}, {exec}\nv_add_nc_u32 v8, 1, v3\ns_mov_{b} {s34}, {exec}", kMissing),
            "");
  // Scalar stores ask no lane.
  EXPECT_EQ(difference(R"(s_lshl_b32 s40, s17, 2
s_addk_i32 s40, 0x1000
s_mov_b32 m0, s40
s_store_dword s17, s[0:1], m0
s_dcache_wb)",
                       kMissing),
            "");
}

}  // namespace
}  // namespace orrery::shader::differential
