// Accesses of bytes and halves, and LDS at addresses that are no multiple of the element.
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/memory/memory_program.hpp"

namespace orrery::shader::memory_test {
namespace {

// v1 = 16 * lane; results go to v4 = 0x4000 + 64 * lane.
const std::string kStart =
    "v_lshlrev_b32 v1, 4, v0\nv_lshlrev_b32 v4, 6, v0\nv_add_nc_u32 v4, 0x4000, v4\n"
    "v_and_b32 v2, 3, v0\nv_add_nc_u32 v3, v1, v2\n";
const std::string kStore =
    "global_store_dwordx4 v4, v[12:15], s[0:1]\nglobal_store_dwordx4 v4, v[16:19], s[0:1] offset:16\n";

MemoryProgram program(uint32_t seed) {
  MemoryProgram p;
  // Guest accesses are long modules to compile; what is tested does not depend on the layout.
  p.whole_wave = false;
  p.memory = random_words(seed, 4096);
  p.memory.resize(4096 * 2);
  return p;
}

TEST(Unaligned, bytes_and_halves_of_memory_are_extended_as_their_names_say) {
  MemoryProgram p = program(1);
  p.both_widths = false;
  for (const char* load : {"ubyte", "sbyte", "ushort", "sshort"}) {
    p.text = kStart + "global_load_" + load + " v12, v1, s[0:1] offset:2\ns_waitcnt vmcnt(0)\n" +
             "global_store_dword v4, v12, s[0:1]\n";
    EXPECT_EQ(difference(p), "") << load;
  }
}

TEST(Unaligned, lds_takes_any_address) {
  MemoryProgram p = program(2);
  p.lds_bytes = 1024;
  p.text = kStart +
           "global_load_dwordx4 v[8:11], v1, s[0:1]\ns_waitcnt vmcnt(0)\nv_mov_b32 v20, 0\n"
           "ds_write_b128 v1, v[8:11]\nds_write_b32 v3, v9 offset:1\nds_write_b16 v3, v10 offset:6\n"
           "ds_write_b8 v3, v11 offset:9\nds_write_b16 v1, v8 offset:13\ns_waitcnt lgkmcnt(0)\n"
           "ds_read_b32 v12, v3\nds_read_b32 v13, v3 offset:5\nds_read_u16 v14, v3 offset:7\n"
           "ds_read_i16 v15, v1 offset:3\nds_read_b64 v[16:17], v3 offset:2\nds_read_b32 v18, v1 offset:10\n"
           "ds_read_u8 v19, v3 offset:4\ns_waitcnt lgkmcnt(0)\n" +
           kStore;
  EXPECT_EQ(difference(p), "");
}

TEST(Unaligned, a_negative_lds_base_and_an_offset_add_up) {
  MemoryProgram p = program(4);
  p.lds_bytes = 1024;
  p.text = kStart +
           "global_load_dwordx4 v[8:11], v1, s[0:1]\nv_lshlrev_b32 v20, 2, v0\ns_waitcnt vmcnt(0)\n"
           "v_sub_nc_u32 v21, 0, v20\nds_write2_b32 v20, v8, v9 offset1:64\ns_waitcnt lgkmcnt(0)\n"
           "ds_read2_b32 v[12:13], v21 offset0:31 offset1:95\nds_read_b32 v14, v21 offset:124\n"
           "ds_read_b64 v[16:17], v21 offset:120\nv_mov_b32 v15, 0\nv_mov_b32 v18, 0\nv_mov_b32 v19, 0\n"
           "s_waitcnt lgkmcnt(0)\n" +
           kStore;
  EXPECT_EQ(difference(p), "");
}

TEST(Unaligned, lds_at_constant_addresses_and_across_its_end_is_read_byte_by_byte) {
  MemoryProgram p = program(3);
  p.lds_bytes = 512;
  p.text = kStart +
           "global_load_dwordx4 v[8:11], v1, s[0:1]\nv_mov_b32 v20, 0\nv_mov_b32 v21, 0x1ff\ns_waitcnt vmcnt(0)\n"
           "v_cmp_eq_u32 {m}, 0, v0\ns_mov_b64 s[10:11], exec\ns_mov_b32 exec_lo, 1\ns_mov_b32 exec_hi, 0\n"
           // Nobody has written LDS before: what it holds then is not the same everywhere.
           "v_mov_b32 v22, 0\nv_mov_b32 v23, 0\nds_write_b64 v20, v[22:23] offset:8\n"
           "ds_write_b64 v20, v[8:9]\nds_write_b32 v20, v10 offset:3\nds_write_b16 v20, v11 offset:11\n"
           "ds_write_b32 v20, v8 offset:508\nds_write_b32 v20, v9 offset:510\nds_write_b16 v21, v10\n"
           "s_mov_b64 exec, s[10:11]\ns_waitcnt lgkmcnt(0)\n"
           "ds_read_b64 v[12:13], v20 offset:1\nds_read_b32 v14, v20 offset:7\nds_read_u16 v15, v20 offset:511\n"
           "ds_read_b32 v16, v21\nds_read_b32 v17, v20 offset:509\nds_read_b64 v[18:19], v21\n"
           "s_waitcnt lgkmcnt(0)\n" +
           kStore;
  EXPECT_EQ(difference(p), "");
}

}  // namespace
}  // namespace orrery::shader::memory_test
