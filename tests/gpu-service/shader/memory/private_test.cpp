// Private memory, as variables of the invocation and as the device's buffer: several groups of several waves, constant
// and computed addresses, lanes that are off, narrow accesses.
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/memory/memory_program.hpp"

namespace orrery::shader::memory_test {
namespace {

MemoryProgram private_program(uint32_t scratch_dwords, const std::string& body) {
  MemoryProgram p;
  p.threads = 128;
  p.groups = 3;
  p.scratch_dwords = scratch_dwords;
  p.memory.resize(p.groups * p.threads * 4);
  // v2: a number of the lane's own; v4 = 0; v5: one of eight dwords; v7: where v[8:11] go.
  p.text =
      "v_mul_lo_u32 v2, v0, 0x9e3779b1\nv_add_nc_u32 v2, s16, v2\nv_mov_b32 v4, 0\n"
      "v_and_b32 v5, 7, v2\nv_lshlrev_b32 v5, 2, v5\n"
      "s_lshl_b32 s21, s16, 7\nv_add_nc_u32 v7, s21, v0\nv_lshlrev_b32 v7, 4, v7\n";
  for (int n = 0; n < 8; ++n) {
    p.text += "v_add_nc_u32 v3, " + std::to_string(n * 5) +
              ", v2\nscratch_store_dword v4, v3, off offset:" + std::to_string(n * 4) + "\n";
  }
  p.text += body + "\ns_waitcnt vmcnt(0)\nglobal_store_dwordx4 v7, v[8:11], s[0:1]\n";
  return p;
}

constexpr uint32_t kVariables = 8, kBuffer = 8192;  // a lane's dwords

TEST(PrivateMemory, each_lane_finds_what_it_stored_at_constant_addresses) {
  for (const uint32_t dwords : {kVariables, kBuffer}) {
    EXPECT_EQ(difference(
                  private_program(dwords,
                                  "v_cmpx_gt_u32 21, v0\n"
                                  "scratch_store_dword v4, v0, off offset:8\nscratch_store_byte v4, v2, off offset:13\n"
                                  "s_mov_b64 exec, -1\n"
                                  "scratch_load_dwordx4 v[8:11], v4, off offset:4")),
              "")
        << dwords;
  }
}

TEST(PrivateMemory, each_lane_finds_what_it_stored_at_addresses_of_its_own) {
  for (const uint32_t dwords : {kVariables, kBuffer}) {
    EXPECT_EQ(difference(private_program(
                  dwords,
                  "v_xor_b32 v6, 12, v5\n"
                  "scratch_store_dword v5, v0, off\n"
                  "v_cmpx_gt_u32 21, v0\nscratch_store_short v6, v2, off offset:2\n"
                  "s_mov_b64 exec, -1\n"
                  "scratch_load_dword v8, v5, off\nscratch_load_dword v9, v6, off\n"
                  "scratch_load_ubyte v10, v6, off offset:3\nscratch_load_dword v11, v4, off offset:28")),
              "")
        << dwords;
  }
}

}  // namespace
}  // namespace orrery::shader::memory_test
