// Edges of loads and stores: partly out of bounds, a result over its own address, straight into LDS, by lane number,
// counters that waves share.
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/memory/memory_program.hpp"

namespace orrery::shader::memory_test {
namespace {

// A buffer of `records` bytes at the start in s[4:7], one over all of memory in s[8:11]; results of v5 = 64 * lane go
// to its second half.
MemoryProgram program(uint32_t records, const std::string& body, uint32_t seed) {
  MemoryProgram p;
  p.whole_wave = false;
  p.memory = random_words(seed, 4096);
  p.memory.resize(4096 * 2);
  describe(p, {.records = 32768});
  for (uint32_t n = 0; n < 4; ++n) p.sgprs[8 + n] = p.sgprs[4 + n];
  describe(p, {.records = records});
  p.text = "v_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v5, 6, v0\nv_add_nc_u32 v5, 0x4000, v5\n" + body;
  return p;
}

TEST(MemoryEdges, each_dword_of_a_wide_access_is_inside_or_not) {
  // 16 lanes and a few dwords are inside.
  MemoryProgram p = program(
      76,
      "buffer_load_dwordx4 v[8:11], v1, s[4:7], 0 offen\nbuffer_load_dwordx3 v[12:14], v1, s[4:7], 0 offen offset:4\n"
      "buffer_load_dwordx2 v[16:17], v1, s[4:7], 0 offen offset:60\ns_waitcnt vmcnt(0)\nv_mov_b32 v15, 5\n"
      "v_mov_b32 v18, 0\nv_mov_b32 v19, 0\nbuffer_store_dwordx4 v[8:11], v5, s[8:11], 0 offen\n"
      "buffer_store_dwordx4 v[12:15], v5, s[8:11], 0 offen offset:16\n"
      "buffer_store_dwordx4 v[16:19], v5, s[8:11], 0 offen offset:32\ns_waitcnt_vscnt null, 0\n"
      "v_cmpx_eq_u32 16, v0\nbuffer_store_dwordx4 v[8:11], v1, s[4:7], 0 offen\n",
      1);
  p.both_widths = false;
  EXPECT_EQ(difference(p), "");
}

TEST(MemoryEdges, a_result_may_lie_over_its_own_address) {
  MemoryProgram p =
      program(32768,
              "v_lshlrev_b32 v2, 3, v0\nv_mov_b32 v3, 0\nv_add_co_u32 v8, vcc_lo, s0, v2\nv_mov_b32 v9, s1\n"
              "global_load_dwordx4 v[7:10], v[8:9], off\nv_mov_b32 v12, v1\nbuffer_load_dwordx3 v[11:13], v12, s[4:7], "
              "0 offen\n"
              "v_mov_b32 v15, v1\nds_write_b32 v1, v0\nds_write_b32 v1, v2 offset:512\ns_waitcnt lgkmcnt(0)\n"
              "ds_read2st64_b32 v[15:16], v15 offset0:0 offset1:2\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
              "buffer_store_dwordx4 v[7:10], v5, s[8:11], 0 offen\nbuffer_store_dwordx3 v[11:13], v5, s[8:11], 0 offen "
              "offset:16\n"
              "buffer_store_dwordx2 v[15:16], v5, s[8:11], 0 offen offset:32\n",
              2);
  p.both_widths = false;  // vcc_lo
  p.lds_bytes = 1024;
  EXPECT_EQ(difference(p), "");
}

TEST(MemoryEdges, elements_of_wide_lds_accesses_end_with_lds) {
  MemoryProgram p =
      program(32768,
              "v_lshlrev_b32 v2, 4, v0\nbuffer_load_dwordx4 v[8:11], v2, s[4:7], 0 offen\nv_add_nc_u32 v3, 0x170, v2\n"
              "v_and_b32 v4, 0x1f0, v2\ns_waitcnt vmcnt(0)\nds_write_b128 v4, v[8:11]\ns_waitcnt lgkmcnt(0)\n"
              "ds_read_b128 v[12:15], v3 offset:8\nds_read_b96 v[16:18], v3 offset:4\nds_read2_b64 v[20:23], v3 "
              "offset0:0 offset1:1\n"
              "v_mov_b32 v19, 0\ns_waitcnt lgkmcnt(0)\nds_write_b96 v3, v[9:11] offset:8\nds_write2_b32 v3, v8, v9 "
              "offset0:0 offset1:3\n"
              "s_waitcnt lgkmcnt(0)\nds_read_b128 v[24:27], v4\ns_waitcnt lgkmcnt(0)\n"
              "buffer_store_dwordx4 v[12:15], v5, s[8:11], 0 offen\nbuffer_store_dwordx4 v[16:19], v5, s[8:11], 0 "
              "offen offset:16\n"
              "buffer_store_dwordx4 v[20:23], v5, s[8:11], 0 offen offset:32\nbuffer_store_dwordx4 v[24:27], v5, "
              "s[8:11], 0 offen offset:48\n",
              3);
  p.lds_bytes = 512;
  p.lds_homes = true;
  p.addressed = p.both_widths = false;
  EXPECT_EQ(difference(p), "");
}

TEST(MemoryEdges, loads_straight_into_lds_put_a_dword_for_each_lane) {
  const std::string read =
      "s_waitcnt vmcnt(0)\nds_read_b32 v8, v1 offset:68\nds_read_b32 v9, v1 offset:324\nds_read_b32 v10, v1 "
      "offset:580\n"
      "ds_read_addtid_b32 v11 offset:4\ns_waitcnt lgkmcnt(0)\nbuffer_store_dwordx4 v[8:11], v5, s[8:11], 0 offen\n";
  MemoryProgram p = program(
      100,
      "s_mov_b32 m0, 0x30040\nv_mov_b32 v7, 0\nds_write_b32 v1, v7 offset:68\nds_write_b32 v1, v7 offset:324\n"
      "ds_write_b32 v1, v7 offset:580\ns_waitcnt lgkmcnt(0)\n"
      "buffer_load_dword v1, s[4:7], 0 offen offset:4 lds\nbuffer_load_sbyte v1, s[4:7], 0 offen offset:260 lds\n"
      "global_load_ushort v1, s[0:1] offset:516 lds\n" +
          read,
      4);
  p.addressed = false;
  p.lds_bytes = 1024;
  EXPECT_EQ(difference(p), "");
}

TEST(MemoryEdges, a_dword_for_each_lane_lies_behind_a_scalar_address) {
  MemoryProgram p =
      program(32768,
              "global_load_dword_addtid v8, s[0:1] offset:12\ns_waitcnt vmcnt(0)\nv_add_nc_u32 v8, v8, v0\n"
              "s_add_u32 s12, s0, 0x4000\ns_addc_u32 s13, s1, 0\n"
              "v_cmpx_ne_u32 5, v0\nglobal_store_dword_addtid v8, s[12:13] offset:4\n",
              5);
  p.processor = "gfx1030";
  EXPECT_EQ(difference(p), "");
}

TEST(MemoryEdges, high_halves_of_typed_elements_are_loaded_and_stored) {
  MemoryProgram p =
      program(32768,
              "v_lshlrev_b32 v2, 2, v0\nv_mov_b32 v8, -1\nbuffer_load_format_d16_hi_x v8, v2, s[12:15], 0 offen\n"
              "v_mov_b32 v9, 0x3c001234\ns_waitcnt vmcnt(0)\nbuffer_store_dword v8, v5, s[8:11], 0 offen\n"
              "buffer_store_format_d16_hi_x v9, v5, s[12:15], 0 offen offset:8\n",
              6);
  for (uint32_t n = 0; n < 3; ++n) p.sgprs[12 + n] = p.sgprs[8 + n];
  p.sgprs[15] = 0xfacu | 7u << 12 | 3u << 28;  // 16_UNORM
  p.both_widths = false;
  EXPECT_EQ(difference(p), "");
}

TEST(MemoryEdges, halves_of_registers_are_loaded_and_stored_in_every_space) {
  MemoryProgram p = program(
      32768,
      "v_mov_b32 v20, 0\nv_lshlrev_b32 v2, 2, v0\nv_add_co_u32 v6, vcc_lo, s0, v2\nv_mov_b32 v7, s1\n"
      "buffer_load_dword v21, v2, s[4:7], 0 offen offset:512\n"
      "v_mov_b32 v8, -1\nv_mov_b32 v9, -1\nv_mov_b32 v10, -1\nv_mov_b32 v11, -1\nv_mov_b32 v12, -1\nv_mov_b32 v13, -1\n"
      "v_mov_b32 v14, -1\nv_mov_b32 v15, -1\ns_waitcnt vmcnt(0)\nds_write_b32 v2, v21\nscratch_store_dword v20, v21, "
      "off\n"
      "s_waitcnt lgkmcnt(0)\ns_waitcnt_vscnt null, 0\n"
      "buffer_load_ubyte_d16 v8, v2, s[4:7], 0 offen offset:1\nbuffer_load_sbyte_d16_hi v9, v2, s[4:7], 0 offen "
      "offset:2\n"
      "global_load_short_d16 v10, v2, s[0:1] offset:2\nflat_load_sbyte_d16_hi v11, v[6:7]\nds_read_i8_d16 v12, v2 "
      "offset:3\n"
      "ds_read_u16_d16_hi v13, v2 offset:2\nscratch_load_short_d16_hi v14, v20, off offset:2\n"
      "scratch_load_ubyte_d16 v15, v20, off offset:1\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
      "buffer_store_dwordx4 v[8:11], v5, s[8:11], 0 offen\nbuffer_store_dwordx4 v[12:15], v5, s[8:11], 0 offen "
      "offset:16\n"
      "buffer_store_short_d16_hi v21, v5, s[8:11], 0 offen offset:32\nbuffer_store_byte_d16_hi v21, v5, s[8:11], 0 "
      "offen offset:35\n"
      "ds_write_b16_d16_hi v2, v9\nds_write_b8_d16_hi v2, v10 offset:3\nscratch_store_short_d16_hi v20, v9, off\n"
      "s_waitcnt lgkmcnt(0)\ns_waitcnt_vscnt null, 0\nds_read_b32 v16, v2\nscratch_load_dword v17, v20, off\n"
      "s_waitcnt vmcnt(0) lgkmcnt(0)\nbuffer_store_dwordx2 v[16:17], v5, s[8:11], 0 offen offset:40\n",
      8);
  p.both_widths = p.addressed = false;
  p.lds_bytes = 512;
  p.lds_homes = true;
  p.scratch_dwords = 4;
  EXPECT_EQ(difference(p), "");
}

// Records of 24 bytes; bundles of 16 lanes' dwords; the lane's number in the index.
TEST(MemoryEdges, structured_swizzled_and_lane_numbered_buffers_take_loads_stores_and_atomics) {
  const Descriptor kinds[] = {
      {.offset = 0x100, .stride = 24, .records = 40, .check = 0},
      {.offset = 0x100, .stride = 24, .records = 40, .check = 1, .third = 1u << 21, .swizzle = true},
      {.offset = 0x100, .stride = 24, .records = 900, .check = 3},
      {.offset = 0x100, .stride = 24, .records = 40, .check = 0, .third = 1u << 23},
  };
  for (const Descriptor& kind : kinds) {
    MemoryProgram p = program(
        32768,
        "v_and_b32 v2, 31, v0\nv_xor_b32 v2, 5, v2\nv_and_b32 v3, 1, v0\nv_lshlrev_b32 v3, 3, v3\n"
        "buffer_load_dwordx3 v[8:10], v[2:3], s[4:7], 0 idxen offen offset:4\nbuffer_load_ushort v11, v2, s[4:7], 0 "
        "idxen offset:22\n"
        "s_waitcnt vmcnt(0)\nbuffer_store_dwordx4 v[8:11], v5, s[8:11], 0 offen\n"
        // Each lane's own record; twice as many lanes as records in wave64.
        "v_cmpx_gt_u32 32, v0\nbuffer_store_dwordx2 v[9:10], v2, s[4:7], 0 idxen offset:16\ns_waitcnt_vscnt null, 0\n"
        "buffer_atomic_add v8, v2, s[4:7], 0 idxen offset:12 glc\ns_waitcnt vmcnt(0)\n"
        "buffer_store_dword v8, v5, s[8:11], 0 offen offset:16\n",
        9);
    Descriptor described = kind;
    describe(p, described);
    p.both_widths = kind.swizzle;
    // With the lane's number in the index two lanes may share a record: only loads.
    if (kind.third == 1u << 23) p.text = p.text.substr(0, p.text.find("v_cmpx"));
    EXPECT_EQ(difference(p), "") << kind.check << (kind.swizzle ? " swizzled" : "");
  }
}

// Numbers are unique over the waves and every one is taken; who gets which is left open.
TEST(MemoryEdges, waves_append_and_consume_by_their_active_lanes) {
  MemoryProgram p = program(
      32768,
      "v_mov_b32 v2, 0\nv_mov_b32 v3, 0x100\ns_mov_b32 m0, 0x20\nds_write_b32 v2, v2 offset:40\nds_write_b32 v2, v3 "
      "offset:44\n"
      "s_waitcnt lgkmcnt(0)\ns_barrier\nv_and_b32 v4, 3, v0\nv_cmpx_ne_u32 0, v4\nds_append v8 offset:8\nds_consume v9 "
      "offset:12\n"
      "s_waitcnt lgkmcnt(0)\nv_mbcnt_lo_u32_b32 v10, exec_lo, 0\nv_add_nc_u32 v8, v8, v10\nv_sub_nc_u32 v9, v9, v10\n"
      "v_lshlrev_b32 v8, 2, v8\nv_lshlrev_b32 v9, 2, v9\nv_mov_b32 v11, 1\n"
      "buffer_store_dword v11, v8, s[8:11], 0 offen offset:2048\nbuffer_store_dword v11, v9, s[8:11], 0 offen\n"
      "s_mov_b64 exec, -1\ns_waitcnt_vscnt null, 0\ns_barrier\nds_read_b64 v[12:13], v2 offset:40\ns_waitcnt "
      "lgkmcnt(0)\n"
      "buffer_store_dwordx2 v[12:13], v5, s[8:11], 0 offen\n",
      7);
  p.threads = 128;
  p.lds_bytes = 512;
  p.lds_homes = true;
  p.both_widths = p.addressed = false;
  EXPECT_EQ(difference(p), "");
}

}  // namespace
}  // namespace orrery::shader::memory_test
