// LDS that is more than the device's workgroup memory: the group's slice of device memory, with all that lanes and
// waves do there.
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/memory/memory_program.hpp"

namespace orrery::shader::memory_test {
namespace {

// Each thread owns 256 bytes of the group's 64 KiB, and what it wrote is read by another.
MemoryProgram large(const std::string& body) {
  MemoryProgram p;
  p.threads = 256;
  p.groups = 3;
  p.lds_bytes = 65536;
  p.whole_wave = false;
  p.addressed = false;
  describe(p, {.records = 32768});
  p.memory = random_words(1, 4096);
  p.memory.resize(4096 * 2);
  p.text =
      "s_lshl_b32 s20, s16, 12\nv_lshl_add_u32 v5, v0, 4, s20\nbuffer_load_dwordx4 v[8:11], v5, s[4:7], 0 offen\n"
      "v_lshlrev_b32 v1, 8, v0\nv_xor_b32 v2, 0x8700, v1\ns_waitcnt vmcnt(0)\n" +
      body + "s_waitcnt lgkmcnt(0)\nv_add_nc_u32 v5, 0x4000, v5\nbuffer_store_dwordx4 v[12:15], v5, s[4:7], 0 offen\n";
  return p;
}

TEST(LdsHome, a_group_of_64_kib_runs_on_a_device_with_less) {
  const MemoryProgram p = large(
      "ds_write_b128 v1, v[8:11] offset:16\nds_write_b8 v1, v8 offset:35\nds_write_b16 v1, v9 offset:32\n"
      "s_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b64 v[12:13], v2 offset:20\nds_read_u8 v14, v2 offset:35\n"
      "ds_read_u16 v15, v2 offset:32\n");
  EXPECT_TRUE(lds_in_memory(p));
  EXPECT_EQ(difference(p), "");
}

TEST(LdsHome, waves_count_in_it_and_lanes_take_numbers) {
  EXPECT_EQ(
      difference(large("v_mov_b32 v3, 0\nv_mov_b32 v4, 0xfffc\nds_write_b32 v4, v3\nds_write_b32 v1, v8 offset:64\n"
                       "s_waitcnt lgkmcnt(0)\ns_barrier\nds_add_u32 v4, v8\nds_xor_b32 v2, v9 offset:64\n"
                       "s_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v12, v4\nds_read_b32 v13, v1 offset:64\n"
                       "v_mov_b32 v14, 0\nv_mov_b32 v15, 1\n")),
      "");
}

TEST(LdsHome, what_lies_behind_its_end_is_0_and_dropped) {
  MemoryProgram p = large(
      "v_mov_b32 v3, 0xfff8\nds_write_b64 v1, v[10:11] offset:240\nds_write_b64 v1, v[10:11] offset:248\n"
      "s_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b64 v[14:15], v3 offset:4\n"
      "ds_write_b64 v1, v[8:9] offset:65532\nds_add_u32 v3, v9 offset:8\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
      "ds_read_b64 v[12:13], v3\n");
  EXPECT_EQ(difference(p), "");
}

TEST(LdsHome, it_lies_beside_private_memory) {
  MemoryProgram p = large(
      "v_and_b32 v4, 0xfc, v0\nscratch_store_dword v4, v8, off\nds_write_b32 v1, v9\n"
      "s_waitcnt lgkmcnt(0)\ns_waitcnt_vscnt null, 0\ns_barrier\nds_read_b32 v12, v2\nscratch_load_dword v13, v4, off\n"
      "scratch_load_dword v14, v6, off\nv_mov_b32 v15, 0\ns_waitcnt vmcnt(0)\n");
  p.scratch_dwords = 8193;  // more than an invocation has in variables of its own
  p.both_widths = false;
  p.text.insert(0, "v_mov_b32 v6, 0x7ffc\nscratch_store_dword v6, v0, off\n");
  EXPECT_EQ(difference(p), "");
}

}  // namespace
}  // namespace orrery::shader::memory_test
