// Edge cases of loads, stores and number modes: each in the interpreter and in every layout.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/differential/test_machine.hpp"

namespace orrery::shader::differential {
namespace {

TEST(AccessEdges, loads_of_several_dwords_reach_partly_out_of_bounds) {
  std::string body = "v_lshlrev_b32 v5, 2, v3\nv_add_nc_u32 v6, 0x68, v5\nv_add_nc_u32 v5, 0xfb0, v5\n";
  for (uint32_t dwords = 2; dwords <= 4; ++dwords) {
    body += fmt::format(R"(buffer_load_dwordx{0} v[12:{1}], v5, s[4:7], 0 offen
buffer_load_dwordx{0} v[16:{2}], v6, s[12:15], 0 offen offset:0
s_waitcnt vmcnt(0)
)",
                        dwords, 11 + dwords, 15 + dwords);
    for (uint32_t n = 0; n < dwords; ++n) {
      body += fmt::format("v_mul_lo_u32 v{0}, 0x9e3779b1, v{0}\nv_xor3_b32 v{0}, v{1}, v{2}, v{0}\n", 8 + n, 12 + n,
                          16 + n);
    }
  }
  EXPECT_EQ(difference(body), "");
}

TEST(AccessEdges, stores_of_several_dwords_reach_partly_out_of_bounds) {
  for (uint32_t dwords = 1; dwords <= 4; ++dwords) {
    const std::string store =
        dwords == 1 ? "buffer_store_dword v8" : fmt::format("buffer_store_dwordx{} v[8:{}]", dwords, 7 + dwords);
    EXPECT_EQ(difference(fmt::format(R"(v_lshlrev_b32 v5, 4, v3
{0}, v5, s[12:15], 0 offen offset:4
v_add_nc_u32 v5, 8, v5
s_waitcnt_vscnt null, 0x0
v_cmpx_gt_u32 3, v3
{0}, v5, s[12:15], 0 offen offset:192)",
                                     store)),
              "")
        << dwords;
  }
}

TEST(AccessEdges, the_destination_of_a_load_overlaps_its_address) {
  EXPECT_EQ(difference(R"(v_lshlrev_b32 v9, 3, v3
buffer_load_dwordx4 v[8:11], v9, s[4:7], 0 offen offset:16
s_waitcnt vmcnt(0)
v_and_b32 v8, 0xff0, v8
v_add_co_u32 v8, {vcc}, s0, v8
v_mov_b32 v9, s1
v_add_co_ci_u32 v9, {vcc}, 0, v9, {vcc}
global_load_dwordx2 v[8:9], v[8:9], off
s_waitcnt vmcnt(0)
v_and_b32 v11, 0xff0, v11
global_load_dwordx2 v[10:11], v11, s[0:1]
s_waitcnt vmcnt(0))"),
            "");
  EXPECT_EQ(difference(R"(v_lshlrev_b32 v12, 4, v2
ds_write_b128 v12, v[8:11]
s_waitcnt lgkmcnt(0)
v_xor_b32 v9, 16, v12
ds_read_b128 v[8:11], v9
s_waitcnt lgkmcnt(0)
v_mov_b32 v10, v12
ds_read2_b32 v[10:11], v10 offset0:3 offset1:1
s_waitcnt lgkmcnt(0))",
                       {.threads = 0, .lds_bytes = 1024}),
            "");
  EXPECT_EQ(difference(R"(s_mov_b64 s[40:41], s[0:1]
s_load_dwordx4 s[40:43], s[40:41], 0x24
s_waitcnt lgkmcnt(0)
v_add_nc_u32 v8, s40, v8
v_add_nc_u32 v9, s43, v9
s_and_b32 s42, s42, 0xffc
s_buffer_load_dwordx2 s[42:43], s[4:7], s42
s_waitcnt lgkmcnt(0)
v_add_nc_u32 v10, s42, v10
v_add_nc_u32 v11, s43, v11)"),
            "");
}

TEST(AccessEdges, private_memory_is_each_lanes_own) {
  EXPECT_EQ(difference(R"(v_mov_b32 v5, 0
v_and_b32 v6, 12, v8
scratch_store_dword v5, v8, off
scratch_store_dwordx2 v5, v[9:10], off offset:4
s_mov_{b} {s40}, {exec}
v_cmp_lt_i32 {vcc}, v8, v9
s_and_{b} {exec}, {exec}, {vcc}
scratch_store_dword v6, v11, off
scratch_store_byte v6, v3, off offset:5
s_mov_{b} {exec}, {s40}
s_waitcnt_vscnt null, 0x0
scratch_load_dwordx3 v[8:10], v5, off
s_waitcnt vmcnt(0)
v_readlane_b32 s42, v8, 13
v_add_nc_u32 v11, s42, v11)",
                       {.threads = 0, .groups = 2, .scratch_dwords = 8}),
            "");
}

TEST(AccessEdges, lanes_of_a_wave_meet_in_memory_without_a_barrier) {
  EXPECT_EQ(difference(R"(v_lshlrev_b32 v5, 2, v1
v_add_nc_u32 v5, 0x5000, v5
s_movk_i32 s50, 1
top:
buffer_store_dword v8, v5, s[8:11], 0 offen
s_waitcnt_vscnt null, 0x0
s_lshl_b32 s51, s50, 2
v_xor_b32 v6, s51, v5
buffer_load_dword v12, v6, s[8:11], 0 offen
s_waitcnt vmcnt(0)
v_max_u32 v8, v8, v12
s_lshl_b32 s50, s50, 1
s_cmp_lt_u32 s50, 32
s_cbranch_scc1 top)"),
            "");
  EXPECT_EQ(difference(R"(v_lshlrev_b32 v5, 2, v2
s_movk_i32 s50, 1
top:
ds_write_b32 v5, v8
s_waitcnt lgkmcnt(0)
s_lshl_b32 s51, s50, 2
v_xor_b32 v6, s51, v5
ds_read_b32 v12, v6
s_waitcnt lgkmcnt(0)
v_max_u32 v8, v8, v12
s_lshl_b32 s50, s50, 1
s_cmp_lt_u32 s50, 32
s_cbranch_scc1 top)",
                       {.threads = 0, .lds_bytes = 512}),
            "");
}

TEST(NumberModes, denormals_and_rounding_follow_mode_as_it_is_set) {
  const std::string sums = R"(v_mul_f32 v12, v8, v9
v_add_f32 v13, v12, v14
v_fma_f32 v14, v8, v10, v11
v_cvt_f16_f32 v18, v8
v_add_f16 v15, v18, v15
v_cvt_f32_f16 v16, v10
v_cvt_i32_f32 v17, v11
v_max_f32 v12, v12, v13
v_max_f32 v14, v14, v16
)";
  const std::string keep = R"(v_cmp_u_f32 {vcc}, v12, v12
v_cndmask_b32 v8, v12, 0x7fc00000, {vcc}
v_cmp_u_f32 {vcc}, v14, v14
v_cndmask_b32 v9, v14, 0x7fc00000, {vcc}
v_cmp_u_f16 {vcc}, v15, v15
v_cndmask_b32 v10, v15, 0x7e00, {vcc}
v_and_b32 v10, 0xffff, v10
v_mov_b32 v11, v17)";
  // Floats near 1, tiny ones, denormals.
  const std::string values = R"(v_and_b32 v8, 0x80ffffff, v8
v_and_b32 v9, 0xbfffffff, v9
v_and_b32 v10, 0x807fffff, v10
v_mov_b32 v14, v10
v_mov_b32 v15, 0x3c01
)";
  for (const uint32_t mode : {0x00u, 0x30u, 0xa0u}) {
    EXPECT_EQ(difference(values + sums + keep, {.threads = 0, .float_mode = mode}), "") << mode;
  }
  // Changed on the way.
  std::string body = values;
  for (const uint32_t round : {1u, 2u, 7u, 13u}) body += fmt::format("s_round_mode {}\n", round) + sums;
  EXPECT_EQ(difference(body + "s_round_mode 0\n" + keep), "");
  body = values;
  for (const uint32_t denormals : {0u, 1u, 2u, 12u}) body += fmt::format("s_denorm_mode {}\n", denormals) + sums;
  EXPECT_EQ(difference(body + "s_denorm_mode 15\n" + keep), "");
}

TEST(NumberModes, an_exact_zero_of_halves_is_minus_0_when_rounding_down) {
  EXPECT_EQ(difference(R"(s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 2
v_mov_b32 v11, 0x8000
v_fma_f16 v8, 0, v11, 0
v_xor_b32 v11, 0x8000, v9
v_and_b32 v10, 0xbbff, v9
v_xor_b32 v11, 0x8000, v10
v_add_f16 v9, v10, v11
v_fma_f16 v10, v10, 1.0, v11)"),
            "");
}

TEST(NumberModes, a_half_that_is_a_signaling_nan_becomes_a_quiet_float) {
  // With IEEE mode a maximum tells them apart: a quiet NaN loses against a number, a signaling one wins.
  EXPECT_EQ(difference(R"(v_mov_b32 v8, 0x7c01
v_mov_b32 v10, 0x41200000
v_cvt_f32_f16 v9, |v8|
v_mov_b32_dpp v9, v9 row_ror:1
v_max_f32 v10, v9, v10)",
                       {.threads = 0, .ieee = true}),
            "");
}

TEST(NumberModes, zeros_that_are_known_before_the_program_runs_keep_their_signs_and_make_nans) {
  std::string body = "v_mov_b32 v12, 0\nv_cvt_off_f32_i4 v13, 0xff00ff00\nv_cvt_f32_u32 v14, 0\nv_mov_b32 v17, 0\n";
  // Signs of zeros, infinities and NaNs among the values.
  body += "v_lshlrev_b32 v8, 24, v8\nv_and_b32 v9, 0xff800000, v9\n";
  for (const char* line :
       {"v_mul_f32 v15, 0, v9", "v_mul_f32 v15, v13, v9", "v_mul_f32 v15, |v14|, v9", "v_fma_f32 v15, -v9, 0, v8",
        "v_fma_f32 v15, v8, v9, 0", "v_fma_f32 v15, v8, -v9, -v12", "v_add_f32 v15, 0, v8", "v_sub_f32 v15, v13, v8",
        "v_sub_f32 v15, v8, -v14", "v_fmac_f32 v15, v9, v13", "v_mul_f32 v15, v13, v12"}) {
    body += fmt::format(R"({}
v_cmp_u_f32 {{vcc}}, v15, v15
v_cndmask_b32 v16, v15, 0x7fc00000, {{vcc}}
v_mul_lo_u32 v17, 0x9e3779b1, v17
v_xor_b32 v17, v17, v16
)",
                        line);
  }
  EXPECT_EQ(difference(body + "v_mov_b32 v10, v17\nv_mov_b32 v11, v16"), "");
}

}  // namespace
}  // namespace orrery::shader::differential
