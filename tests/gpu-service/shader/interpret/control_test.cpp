#include <gtest/gtest.h>

#include "tests/gpu-service/shader/interpret/assembled.hpp"
#include "tests/gpu-service/shader/interpret/host_bytes.hpp"

namespace orrery::shader::testing {
namespace {

TEST(InterpretedControl, an_endless_loop_is_refused_at_the_step_limit) {
  const Result result = run_snippet("loop:\ns_branch loop");
  ASSERT_TRUE(result.outcome.refusal);
  EXPECT_NE(result.outcome.refusal->reason.find("endless loop"), std::string::npos);
}

TEST(InterpretedControl, what_has_no_semantics_is_refused_by_name) {
  const Result result = run_snippet("v_mov_b32 v10, 1\ns_sendmsg sendmsg(MSG_INTERRUPT)");
  ASSERT_TRUE(result.outcome.refusal);
  EXPECT_EQ(result.outcome.refusal->mnemonic, "s_sendmsg");
  EXPECT_EQ(result.vgprs[0][0], 0u);
}

TEST(InterpretedControl, unsupported_instructions_are_listed_without_running) {
  const auto words = assemble(
      "ds_gws_barrier v0 gds\nv_mov_b32 v0, 1\nimage_get_lod v0, v[0:1], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D",
      32);
  const auto refusals = interpret::unsupported(program_of(words));
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(refusals[0].mnemonic, "ds_gws_barrier");
  EXPECT_EQ(refusals[1].mnemonic, "image_get_lod");
}

TEST(InterpretedControl, loops_run_until_every_lane_left) {
  // Each lane counts to its own number.
  const Result result = run_snippet(
      "v_mov_b32 v10, 0\ns_mov_b32 s20, exec_lo\nloop:\nv_cmpx_lt_u32 v10, v0\nv_add_nc_u32 v10, 1, v10\n"
      "s_cbranch_execnz loop\ns_mov_b32 exec_lo, s20");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(result.vgprs[0][lane], lane);
  }
}

TEST(InterpretedControl, calls_reach_code_that_branches_do_not) {
  const Result result = run_snippet(
      "s_getpc_b64 s[20:21]\ns_add_u32 s20, s20, 28\ns_addc_u32 s21, s21, 0\ns_swappc_b64 s[22:23], s[20:21]\n"
      "v_add_nc_u32 v10, 1, v10\ns_branch behind\ns_nop 0\ns_nop 0\nv_mov_b32 v10, 41\ns_setpc_b64 s[22:23]\nbehind:");
  ASSERT_FALSE(result.outcome.refusal) << result.outcome.refusal->reason;
  EXPECT_EQ(result.vgprs[0][0], 42u);
}

TEST(InterpretedControl, a_jump_out_of_memory_is_refused) {
  const Result result = run_snippet("s_mov_b64 s[20:21], 64\ns_setpc_b64 s[20:21]");
  ASSERT_TRUE(result.outcome.refusal);
  EXPECT_EQ(result.outcome.refusal->mnemonic, "s_setpc_b64");
}

TEST(InterpretedControl, lanes_behind_the_group_are_off) {
  Snippet snippet;
  snippet.threads = 11;
  const Result result = run_snippet("v_mov_b32 v10, 1\nv_mov_b32 v11, exec_lo", snippet);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(result.vgprs[0][lane], lane < 11 ? 1u : 0u);
  }
  EXPECT_EQ(result.vgprs[1][0], 0x7ffu);
}

// Two waves: each writes to LDS, waits, and reads what the other wrote; groups and ids in three dimensions.
TEST(InterpretedControl, waves_meet_at_barriers_and_know_their_place) {
  const auto words = assemble(
      "v_mad_u32_u24 v3, v1, 4, v0\nv_mad_u32_u24 v3, v2, 8, v3\nv_lshlrev_b32 v4, 2, v3\nv_mad_u32_u24 v5, s4, 1000, "
      "v3\n"
      "ds_write_b32 v4, v5\ns_barrier\nv_xor_b32 v6, 0x80, v4\nds_read_b32 v7, v6\nv_lshl_add_u32 v8, s5, 8, v4\n"
      "v_lshl_add_u32 v8, s4, 9, v8\nglobal_store_dword v8, v7, s[0:1]",
      32);
  const Program program = program_of(words);
  std::vector<uint32_t> memory(64 * 4);
  HostBytes bytes;
  bytes.add(memory.data(), memory.size() * 4);
  interpret::Dispatch dispatch;
  dispatch.program = &program;
  dispatch.rsrc2 = 4u << 1 | 3u << 7 | 2u << 11 | 1u << 15;  // TGID_X, TGID_Y, three local ids, LDS
  dispatch.user_data[0] = static_cast<uint32_t>(reinterpret_cast<uint64_t>(memory.data()));
  dispatch.user_data[1] = static_cast<uint32_t>(reinterpret_cast<uint64_t>(memory.data()) >> 32);
  dispatch.group_size = {4, 2, 8};
  dispatch.groups = {2, 2, 1};
  const auto outcome = interpret::run(dispatch, bytes);
  ASSERT_FALSE(outcome.refusal) << outcome.refusal->reason;
  EXPECT_EQ(outcome.escapes.count, 0u);
  for (uint32_t x = 0; x < 2; ++x) {
    for (uint32_t y = 0; y < 2; ++y) {
      for (uint32_t thread = 0; thread < 64; ++thread) {
        EXPECT_EQ(memory[x * 128 + y * 64 + thread], x * 1000 + (thread ^ 32));
      }
    }
  }
}

TEST(InterpretedControl, partial_groups_are_smaller_groups) {
  const auto words = assemble(
      "v_mad_u32_u24 v2, s2, 8, v0\nv_lshlrev_b32 v2, 2, v2\nv_mov_b32 v3, 1\nglobal_atomic_add v2, v3, s[0:1]", 32);
  const Program program = program_of(words);
  std::vector<uint32_t> memory(32);
  HostBytes bytes;
  bytes.add(memory.data(), memory.size() * 4);
  interpret::Dispatch dispatch;
  dispatch.program = &program;
  dispatch.rsrc2 = 2u << 1 | 1u << 7;
  dispatch.user_data[0] = static_cast<uint32_t>(reinterpret_cast<uint64_t>(memory.data()));
  dispatch.user_data[1] = static_cast<uint32_t>(reinterpret_cast<uint64_t>(memory.data()) >> 32);
  dispatch.group_size = {8, 1, 1};
  dispatch.groups = {3, 1, 1};
  dispatch.threads = {19, 0, 0};
  ASSERT_FALSE(interpret::run(dispatch, bytes).refusal);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(memory[i], i < 19 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace orrery::shader::testing
