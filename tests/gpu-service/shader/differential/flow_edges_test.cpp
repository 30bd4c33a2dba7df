// Edge cases of control flow: each in the interpreter and in every layout.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/differential/test_machine.hpp"

namespace orrery::shader::differential {
namespace {

// Groups whose s20 and s21 differ, so that several ways are gone.
constexpr Launch kGroups{.threads = 0, .groups = 4};

TEST(FlowEdges, a_loop_that_ways_with_other_writes_lead_to_keeps_what_they_wrote) {
  EXPECT_EQ(difference(R"(v_mov_b32 v9, 5
s_movk_i32 s50, 3
s_cmp_lt_i32 s20, s21
s_cbranch_scc0 again
v_mov_b32 v9, 17
again:
v_add_nc_u32 v10, v10, v9
s_sub_i32 s50, s50, 1
s_cmp_lg_u32 s50, 0
s_cbranch_scc1 again
v_add_nc_u32 v11, v9, v11)",
                       kGroups),
            "");
}

TEST(FlowEdges, a_routine_called_from_two_places_of_a_loop_and_behind_it_keeps_what_the_loop_wrote) {
  const auto call = [](int place) {
    return fmt::format(
        "s_getpc_b64 s[82:83]\nplace_{0}:\ns_add_u32 s82, s82, routine-place_{0}\ns_addc_u32 s83, s83, 0\n"
        "s_swappc_b64 s[92:93], s[82:83]\n",
        place);
  };
  EXPECT_EQ(difference("v_mov_b32 v9, 5\ns_movk_i32 s50, 2\nagain:\ns_cmp_eq_u32 s50, 0\ns_cbranch_scc1 done\n"
                       "s_sub_i32 s50, s50, 1\nv_mov_b32 v9, 17\n" +
                       call(0) + call(1) + "s_branch again\ndone:\n" + call(2) +
                       "s_branch behind\nroutine:\ns_setpc_b64 s[92:93]\nbehind:"),
            "");
}

// Two calls of a routine are a loop with a switch; what the first left in s62 is no part of the exec after the second.
TEST(FlowEdges, a_mask_of_the_round_before_is_no_part_of_this_rounds) {
  const auto call = [](int place) {
    return fmt::format(
        "s_getpc_b64 s[82:83]\nplace_{0}:\ns_add_u32 s82, s82, routine-place_{0}\ns_addc_u32 s83, s83, 0\n"
        "s_swappc_b64 s[92:93], s[82:83]\n",
        place);
  };
  EXPECT_EQ(difference(call(0) + "s_and_saveexec_b32 s62, vcc_lo\ns_xor_b32 s62, exec_lo, s62\n" + call(1) +
                       "s_or_saveexec_b32 s62, s62\ns_xor_b32 exec_lo, exec_lo, s62\nv_mbcnt_lo_u32_b32 v9, s46, 0\n"
                       "s_or_b32 exec_lo, exec_lo, s62\ns_branch behind\nroutine:\ns_setpc_b64 s[92:93]\nbehind:"),
            "");
}

// llvmpipe, which unrolls such a loop, takes a product with a constant zero for 0.
TEST(FlowEdges, a_product_with_a_zero_that_a_round_brings_keeps_its_sign) {
  EXPECT_EQ(difference(R"(s_movk_i32 s50, 4
v_or_b32 v21, 0x80000000, v21
again:
s_cmp_eq_u32 s50, 0
s_cbranch_scc1 done
s_sub_i32 s50, s50, 1
v_fract_f32 v22, 0
v_mul_f32 v21, v22, v21
s_branch again
done:
v_mov_b32 v9, v21)",
                       {.float_mode = 0xc0}),
            "");
}

TEST(FlowEdges, the_header_of_a_loop_holds_a_load) {
  EXPECT_EQ(difference(R"(v_and_b32 v12, 7, v8
v_lshlrev_b32 v5, 2, v3
s_mov_{b} {s40}, {exec}
top:
buffer_load_dword v13, v5, s[4:7], 0 offen
s_waitcnt vmcnt(0)
v_add_nc_u32 v9, v9, v13
v_add_nc_u32 v5, 64, v5
v_sub_nc_u32 v12, v12, 1
v_cmp_le_i32 {vcc}, 0, v12
s_and_{b} {exec}, {exec}, {vcc}
s_cbranch_execnz top
s_mov_{b} {exec}, {s40})"),
            "");
  // A scalar one, which decides whether the loop goes on.
  EXPECT_EQ(difference(R"(s_movk_i32 s50, 0x80
s_movk_i32 s51, 0
top:
s_load_dword s52, s[0:1], s50
s_add_i32 s50, s50, 4
s_add_i32 s51, s51, 1
s_waitcnt lgkmcnt(0)
v_xor_b32 v8, s52, v8
s_and_b32 s53, s52, 7
s_cmp_lg_u32 s53, 0
s_cbranch_scc0 behind
s_cmp_lt_u32 s51, 9
s_cbranch_scc1 top
behind:
v_add_nc_u32 v9, s51, v9)",
                       kGroups),
            "");
}

TEST(FlowEdges, early_exits_overlap) {
  EXPECT_EQ(difference(R"(s_bitcmp1_b32 s20, 0
s_cbranch_scc1 first
v_add_nc_u32 v8, 1, v8
s_bitcmp1_b32 s21, 0
s_cbranch_scc1 second
v_mul_lo_u32 v8, 7, v8
s_bitcmp1_b32 s20, 1
s_cbranch_scc1 third
v_xor_b32 v9, v8, v9
first:
v_sub_nc_u32 v10, v10, v8
s_bitcmp1_b32 s21, 1
s_cbranch_scc1 third
second:
v_add_nc_u32 v9, v9, v10
third:
v_add_nc_u32 v11, v9, v11)",
                       {.threads = 0, .groups = 4}),
            "");
}

TEST(FlowEdges, a_nest_of_loops_is_left_from_within) {
  EXPECT_EQ(difference(R"(s_movk_i32 s50, 0
outer:
s_movk_i32 s51, 0
inner:
v_add_nc_u32 v8, s51, v8
s_lshr_b32 s52, s20, s51
s_bitcmp1_b32 s52, 0
s_cbranch_scc1 out
s_lshr_b32 s52, s21, s50
s_bitcmp1_b32 s52, 0
s_cbranch_scc1 next
s_add_i32 s51, s51, 1
s_cmp_lt_u32 s51, 4
s_cbranch_scc1 inner
v_xor_b32 v9, v8, v9
next:
v_add_nc_u32 v10, v8, v10
s_add_i32 s50, s50, 1
s_cmp_lt_u32 s50, 5
s_cbranch_scc1 outer
v_mul_lo_u32 v11, 3, v11
out:
v_add_nc_u32 v11, s50, v11)",
                       kGroups),
            "");
}

TEST(FlowEdges, terminal_exits_are_shared) {
  EXPECT_EQ(difference(R"(v_lshlrev_b32 v4, 4, v1
v_add_nc_u32 v4, 0x6000, v4
s_bitcmp1_b32 s20, 0
s_cbranch_scc1 end
v_not_b32 v8, v8
s_bitcmp1_b32 s20, 1
s_cbranch_scc1 store
s_bitcmp1_b32 s21, 0
s_cbranch_scc0 other
store:
buffer_store_dwordx2 v[8:9], v4, s[8:11], 0 offen
end:
s_endpgm
other:
v_add_nc_u32 v10, v10, v8
s_bitcmp1_b32 s21, 1
s_cbranch_scc1 end
v_cmp_gt_u32 {vcc}, 9, v3
s_cbranch_vccz store)",
                       kGroups),
            "");
}

TEST(FlowEdges, loops_have_several_entries) {
  EXPECT_EQ(difference(R"(s_movk_i32 s50, 0
s_and_b32 s51, s20, 3
s_cmp_eq_u32 s51, 0
s_cbranch_scc1 second
s_cmp_eq_u32 s51, 1
s_cbranch_scc1 third
first:
v_add_nc_u32 v8, 1, v8
s_bitcmp1_b32 s21, s50
s_cbranch_scc1 third
second:
v_mul_lo_u32 v9, v8, v9
s_cmp_gt_u32 s50, 5
s_cbranch_scc1 behind
third:
v_xor_b32 v10, v9, v10
s_add_i32 s50, s50, 1
s_cmp_lt_u32 s50, 8
s_cbranch_scc1 first
behind:
v_add_nc_u32 v11, s50, v11)",
                       kGroups),
            "");
}

TEST(FlowEdges, computed_jumps_lead_to_cases) {
  EXPECT_EQ(difference(R"(s_and_b32 s51, s20, 3
s_cmp_eq_u32 s51, 0
s_cbranch_scc0 not_first
s_getpc_b64 s[82:83]
here:
s_add_u32 s82, s82, first-here
s_addc_u32 s83, s83, 0
s_setpc_b64 s[82:83]
not_first:
s_cmp_eq_u32 s51, 1
s_cbranch_scc1 second
s_getpc_b64 s[84:85]
there:
s_add_u32 s84, s84, third-there
s_addc_u32 s85, s85, 0
s_setpc_b64 s[84:85]
first:
v_add_nc_u32 v8, 1, v8
second:
v_mul_lo_u32 v8, 5, v8
s_branch behind
third:
v_xor_b32 v8, v8, v9
behind:
v_add_nc_u32 v9, v8, v9)",
                       kGroups),
            "");
}

TEST(FlowEdges, loops_are_tested_by_exec_at_their_bottom) {
  // As LLVM writes them: lanes that are done are gathered; others leave in the middle.
  EXPECT_EQ(difference(R"(v_and_b32 v12, 15, v8
s_mov_{b} {s40}, 0
s_mov_{b} {s46}, {exec}
top:
v_add_nc_u32 v9, v12, v9
v_cmp_eq_u32 {s42}, 5, v12
s_and_saveexec_{b} {s44}, {s42}
s_cbranch_execz inside
v_xor_b32 v10, 0x55, v10
inside:
s_or_{b} {exec}, {exec}, {s44}
v_cmp_gt_u32 {s42}, 3, v12
s_or_{b} {s40}, {s42}, {s40}
s_andn2_{b} {exec}, {exec}, {s40}
s_cbranch_execz out
v_subrev_nc_u32 v12, 1, v12
v_cmp_gt_i32 {vcc}, 1, v12
s_or_{b} {s40}, {vcc}, {s40}
s_andn2_{b} {exec}, {exec}, {s40}
s_cbranch_execnz top
out:
s_or_{b} {exec}, {exec}, {s40}
s_xor_{b} {s46}, {s46}, {exec}
v_cndmask_b32 v11, v11, 1, {s46})"),
            "");
}

TEST(FlowEdges, lanes_come_to_a_loop_off) {
  EXPECT_EQ(difference(R"(v_cmp_lt_i32 {vcc}, v8, v9
s_and_saveexec_{b} {s40}, {vcc}
v_and_b32 v13, 3, v8
top:
v_add_nc_u32 v10, v13, v10
v_sub_nc_u32 v13, v13, 1
v_cmpx_lt_i32 0, v13
s_cbranch_execnz top)"),
            "");
}

TEST(FlowEdges, a_loop_with_two_entries_is_left_by_a_vote_or_by_a_count) {
  EXPECT_EQ(difference(R"(v_cmp_eq_u32 {s36}, 9, v3
s_movk_i32 s50, 0
s_cmp_lg_u32 s20, s21
s_cbranch_scc1 middle
top:
v_add_nc_u32 v10, 1, v10
s_and_{b} {s40}, {s36}, {s36}
s_cbranch_scc1 out
middle:
s_add_i32 s50, s50, 1
s_cmp_lt_u32 s50, 3
s_cbranch_scc1 top
out:
s_cselect_b32 s51, 1, 0
v_mov_b32 v8, s51
v_mov_b32 v9, s50)"),
            "");
}

TEST(FlowEdges, waves_of_a_group_go_ways_of_their_own) {
  EXPECT_EQ(difference(R"(s_movk_i32 s50, 0
s_lshl_b32 s51, s33, 1
s_add_i32 s51, s51, 1
top:
v_add_nc_u32 v8, s50, v8
v_readlane_b32 s52, v8, s50
s_add_i32 s50, s50, 1
s_cmp_lt_u32 s50, s51
s_cbranch_scc1 top
v_mov_b32 v9, s52)",
                       {.threads = 128, .groups = 2}),
            "");
}

}  // namespace
}  // namespace orrery::shader::differential
