#include <gtest/gtest.h>

#include "tests/gpu-service/shader/interpret/assembled.hpp"
#include "tests/gpu-service/shader/interpret/host_bytes.hpp"

namespace orrery::shader::testing {
namespace {

TEST(InterpretedMemory, local_atomics_give_the_old_value_in_lane_order) {
  Snippet snippet;
  snippet.lds_bytes = 512;
  const Result result = run_snippet(
      "v_mov_b32 v5, 0\nv_mov_b32 v6, 3\nds_write_b32 v5, v5\nds_add_rtn_u32 v10, v5, v6\nds_read_b32 v11, v5",
      snippet);
  ASSERT_FALSE(result.outcome.refusal);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(result.vgprs[0][lane], 3 * lane);
    EXPECT_EQ(result.vgprs[1][lane], 96u);
  }
}

TEST(InterpretedMemory, local_pairs_count_elements_and_survive_their_own_address) {
  Snippet snippet;
  snippet.lds_bytes = 2048;
  const Result result = run_snippet(
      "v_lshlrev_b32 v5, 2, v0\nv_add_nc_u32 v6, 1000, v0\nds_write2st64_b32 v5, v6, v0 offset0:0 offset1:1\n"
      "v_mov_b32 v10, v5\nds_read2_b32 v[10:11], v10 offset0:0 offset1:64",
      snippet);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(result.vgprs[0][lane], 1000 + lane);
    EXPECT_EQ(result.vgprs[1][lane], lane);
  }
}

TEST(InterpretedMemory, local_memory_ends_where_the_group_asked) {
  Snippet snippet;
  snippet.lds_bytes = 512;
  const Result result = run_snippet(
      "v_mov_b32 v5, 508\nv_mov_b32 v6, 7\nv_mov_b32 v7, 8\nds_write_b64 v5, v[6:7]\nds_read_b64 v[10:11], v5",
      snippet);
  EXPECT_EQ(result.vgprs[0][0], 7u);
  EXPECT_EQ(result.vgprs[1][0], 0u);
}

TEST(InterpretedMemory, append_and_consume_count_active_lanes) {
  Snippet snippet;
  snippet.lds_bytes = 512;
  const Result result = run_snippet(
      "s_mov_b32 m0, 16\ns_mov_b32 s20, exec_lo\ns_mov_b32 exec_lo, 0xff0f\nds_append v10 offset:4\ns_mov_b32 exec_lo, "
      "7\n"
      "ds_consume v11 offset:4\ns_mov_b32 exec_lo, s20\nv_mov_b32 v5, 20\nds_read_b32 v12, v5",
      snippet);
  EXPECT_EQ(result.vgprs[0][0], 0u);
  EXPECT_EQ(result.vgprs[1][0], 12u);
  EXPECT_EQ(result.vgprs[2][0], 9u);
}

TEST(InterpretedMemory, half_loads_keep_the_other_half) {
  Snippet snippet;
  snippet.lds_bytes = 512;
  snippet.vgprs[0] = Values(32, 0x8899aabb);
  const Result result = run_snippet(
      "v_mov_b32 v5, 0\nds_write_b32 v5, v1\nv_mov_b32 v10, -1\nds_read_u8_d16 v10, v5 offset:1\nv_mov_b32 v11, -1\n"
      "ds_read_i8_d16_hi v11, v5 offset:3\nds_read_i16 v12, v5 offset:2",
      snippet);
  EXPECT_EQ(result.vgprs[0][0], 0xffff00aau);
  EXPECT_EQ(result.vgprs[1][0], 0xff88ffffu);
  EXPECT_EQ(result.vgprs[2][0], 0xffff8899u);
}

// A raw buffer of `records` bytes at the snippet's own memory (its first input array).
std::map<uint32_t, uint32_t> raw_buffer(uint32_t records) { return {{6, records}, {7, 3u << 28}}; }
constexpr const char* kOwnBuffer = "s_mov_b32 s4, s0\ns_and_b32 s5, s1, 0xffff\n";

TEST(InterpretedMemory, buffer_loads_behind_the_end_give_0_dword_by_dword) {
  Snippet snippet;
  snippet.vgprs[0] = each_lane(32, [](uint32_t lane) { return 100 + lane; });
  snippet.sgprs = raw_buffer(20);
  const Result result =
      run_snippet(std::string(kOwnBuffer) + "buffer_load_dwordx2 v[10:11], v255, s[4:7], 0 offen", snippet);
  ASSERT_FALSE(result.outcome.refusal);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(result.vgprs[0][lane], lane < 5 ? 100 + lane : 0);
    EXPECT_EQ(result.vgprs[1][lane], lane < 4 ? 101 + lane : 0);
  }
}

TEST(InterpretedMemory, structured_buffers_check_index_and_offset) {
  Snippet snippet;
  snippet.vgprs[0] = each_lane(32, [](uint32_t lane) { return 100 + lane; });
  snippet.sgprs = {{6, 3}, {7, 0}};  // three records of 8 bytes, index and offset checked
  const Result result =
      run_snippet(std::string(kOwnBuffer) +
                      "s_or_b32 s5, s5, 0x80000\nbuffer_load_dword v10, v0, s[4:7], 0 idxen offset:4\n"
                      "buffer_load_dword v11, v0, s[4:7], 0 idxen offset:8",
                  snippet);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(result.vgprs[0][lane], lane < 3 ? 101 + 2 * lane : 0);
    EXPECT_EQ(result.vgprs[1][lane], 0u);
  }
}

TEST(InterpretedMemory, typed_loads_convert) {
  Snippet snippet;
  snippet.vgprs[0] = Values(32, 0xff80407f);
  snippet.sgprs = raw_buffer(128);
  snippet.sgprs[7] |= 0xfac;  // components in order
  const Result result =
      run_snippet(std::string(kOwnBuffer) +
                      "tbuffer_load_format_xy v[10:11], v255, s[4:7], 0 format:[BUF_FMT_8_8_8_8_SNORM] offen\n"
                      "tbuffer_load_format_x v12, v255, s[4:7], 0 format:[BUF_FMT_16_16_UINT] offen",
                  snippet);
  ASSERT_FALSE(result.outcome.refusal) << result.outcome.refusal->reason;
  EXPECT_EQ(std::bit_cast<float>(result.vgprs[0][0]), 1.0f);
  EXPECT_EQ(std::bit_cast<float>(result.vgprs[1][0]), 64.0f / 127.0f);
  EXPECT_EQ(result.vgprs[2][0], 0x407fu);
}

TEST(InterpretedMemory, buffer_atomics_return_when_asked) {
  Snippet snippet;
  snippet.vgprs[0] = Values(32, 10);
  snippet.sgprs = raw_buffer(4);
  const Result result =
      run_snippet(std::string(kOwnBuffer) +
                      "v_mov_b32 v10, 5\nbuffer_atomic_add v10, off, s[4:7], 0 glc\nv_mov_b32 v5, 2\n"
                      "buffer_atomic_umin v5, off, s[4:7], 0\nbuffer_load_dword v11, off, s[4:7], 0\n"
                      "v_mov_b32 v6, 77\nv_mov_b32 v7, 2\nglobal_atomic_cmpswap v12, v255, v[6:7], s[0:1] glc",
                  snippet);
  ASSERT_FALSE(result.outcome.refusal);
  EXPECT_EQ(result.vgprs[0][3], 25u);
  EXPECT_EQ(result.vgprs[1][0], 2u);
  EXPECT_EQ(result.vgprs[2][0], 2u);
  EXPECT_EQ(result.vgprs[2][1], 10u);
}

TEST(InterpretedMemory, unmapped_loads_give_0_and_are_counted) {
  Snippet snippet;
  snippet.sgprs = {{2, 0x1000}, {3, 0}};
  const Result result = run_snippet(
      "v_mov_b32 v10, 9\nglobal_load_dword v10, v255, s[2:3]\nglobal_store_dword v255, v10, s[2:3]", snippet);
  EXPECT_FALSE(result.outcome.refusal);
  EXPECT_EQ(result.vgprs[0][0], 0u);
  EXPECT_EQ(result.outcome.escapes.count, 64u);
  EXPECT_EQ(result.outcome.escapes.address, 0x1000u);
  EXPECT_FALSE(result.outcome.escapes.is_store);
}

TEST(InterpretedMemory, scalar_loads_and_buffers) {
  Snippet snippet;
  snippet.vgprs[0] = each_lane(32, [](uint32_t lane) { return 500 + lane; });
  snippet.sgprs = raw_buffer(12);
  const Result result = run_snippet(
      std::string(kOwnBuffer) +
          "s_load_dwordx2 s[20:21], s[0:1], 0x8\ns_movk_i32 s22, 4\ns_buffer_load_dwordx4 s[24:27], s[4:7], s22\n"
          "v_mov_b32 v10, s21\nv_mov_b32 v11, s25\nv_mov_b32 v12, s26",
      snippet);
  EXPECT_EQ(result.vgprs[0][0], 503u);
  EXPECT_EQ(result.vgprs[1][0], 502u);
  EXPECT_EQ(result.vgprs[2][0], 0u);  // behind the end
}

}  // namespace
}  // namespace orrery::shader::testing
