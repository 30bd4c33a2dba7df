// Scalar stores and atomics: once for the wave, whatever exec says, in order behind their waits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/memory/memory_program.hpp"

namespace orrery::shader::memory_test {
namespace {

// s16: the group. s[12:13]: the group's own kilobyte from 0x4000 on.
MemoryProgram program(const std::string& body, uint32_t seed) {
  MemoryProgram p;
  p.groups = 3;
  p.memory = random_words(seed, 4096);
  p.memory.resize(4096 * 2);
  p.text =
      "s_lshl_b32 s12, s16, 10\ns_add_u32 s12, s12, s0\ns_addc_u32 s13, s1, 0\ns_add_u32 s12, s12, 0x4000\n" + body;
  return p;
}

TEST(ScalarStores, dwords_are_stored_once_even_with_no_lane_on) {
  EXPECT_EQ(difference(program("s_load_dwordx8 s[24:31], s[0:1], 0x40\ns_movk_i32 s20, 0x23\ns_mov_b64 exec, 0\n"
                               "s_waitcnt lgkmcnt(0)\ns_store_dword s24, s[12:13], 0x4\n"
                               "s_store_dwordx2 s[26:27], s[12:13], s20\ns_store_dwordx4 s[28:31], s[12:13], 0x31\n",
                               1)),
            "");
}

TEST(ScalarStores, what_is_stored_is_loaded_behind_a_wait) {
  EXPECT_EQ(difference(program("s_add_u32 s20, s16, 77\ns_store_dword s20, s[12:13], 0x0\ns_waitcnt lgkmcnt(0)\n"
                               "s_load_dword s21, s[12:13], 0x0\ns_waitcnt lgkmcnt(0)\ns_add_u32 s21, s21, 1\n"
                               "s_store_dword s21, s[12:13], 0x0\ns_store_dword s21, s[12:13], 0x4\ns_dcache_wb\n"
                               "s_waitcnt lgkmcnt(0)\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 0\n"
                               "global_load_dwordx2 v[4:5], v2, s[12:13]\ns_waitcnt vmcnt(0)\nv_add_nc_u32 v4, v4, v5\n"
                               "global_store_dword v1, v4, s[12:13] offset:64\n",
                               2)),
            "");
}

TEST(ScalarStores, buffers_end_where_their_descriptor_says) {
  // s[4:7]: a raw buffer of 24 bytes; s[8:11]: the same with records of 8 bytes.
  MemoryProgram p = program(
      "s_load_dwordx4 s[24:27], s[0:1], 0x40\ns_mov_b32 s8, s4\ns_or_b32 s9, s5, 0x80000\ns_mov_b32 s10, 5\ns_mov_b32 "
      "s11, s7\n"
      "s_movk_i32 s20, 0xe\ns_waitcnt lgkmcnt(0)\ns_buffer_store_dwordx4 s[24:27], s[4:7], 0x8\n"
      "s_buffer_store_dwordx2 s[26:27], s[4:7], 0x400\ns_buffer_store_dwordx2 s[26:27], s[8:11], s20 \n"
      "s_buffer_store_dwordx4 s[24:27], s[8:11], 0x20\n",
      3);
  p.groups = 1;
  describe(p, {.offset = 0x4000, .records = 24});
  EXPECT_EQ(difference(p), "");
}

TEST(ScalarStores, scratch_offsets_count_64_bytes_where_there_is_no_private_memory) {
  EXPECT_EQ(difference(program("s_movk_i32 s20, 3\ns_load_dwordx2 s[24:25], s[0:1], 0x40\ns_waitcnt lgkmcnt(0)\n"
                               "s_scratch_store_dwordx2 s[24:25], s[12:13], s20\ns_waitcnt lgkmcnt(0)\n"
                               "s_scratch_load_dword s26, s[12:13], s20\ns_waitcnt lgkmcnt(0)\n"
                               "s_scratch_store_dword s26, s[12:13], 0x10\n",
                               4)),
            "");
  MemoryProgram p = program("s_scratch_store_dword s20, s[12:13], 0x10\n", 5);
  p.scratch_dwords = 4;
  EXPECT_NE(refusals(p).find("s_scratch_store_dword: scalar access to private memory"), std::string::npos)
      << refusals(p);
}

TEST(ScalarAtomics, each_does_as_in_the_interpreter) {
  const char* const names[] = {"swap", "cmpswap", "add", "sub", "smin", "umin", "smax",
                               "umax", "and",     "or",  "xor", "inc",  "dec"};
  // Both widths of each on the group's own words, the first returned; then what was returned is stored.
  for (size_t first = 0; first < std::size(names); first += 3) {
    std::string body =
        "s_load_dwordx4 s[24:27], s[0:1], 0x40\ns_load_dwordx4 s[28:31], s[0:1], 0x58\ns_mov_b64 exec, 0\n";
    for (size_t n = first; n < std::min(first + 3, std::size(names)); ++n) {
      const bool swaps = std::string(names[n]) == "cmpswap";
      body += fmt::format(
          "s_waitcnt lgkmcnt(0)\ns_store_dwordx4 s[28:31], s[12:13], {0}\ns_mov_b64 s[20:21], s[24:25]\n"
          "s_mov_b64 s[22:23], s[26:27]\ns_waitcnt lgkmcnt(0)\ns_atomic_{1} {2}, s[12:13], {0} glc\n"
          "s_atomic_{1}_x2 {3}, s[12:13], {4}\ns_waitcnt lgkmcnt(0)\ns_store_dword s20, s[12:13], {5}\n",
          n * 32, names[n], swaps ? "s[20:21]" : "s20", swaps ? "s[24:27]" : "s[24:25]", n * 32 + 8, n * 32 + 16);
    }
    MemoryProgram p = program(body, 10 + static_cast<uint32_t>(first));
    p.both_widths = p.whole_wave = first == 0;
    EXPECT_EQ(difference(p), "") << names[first];
  }
}

TEST(ScalarAtomics, waves_count_together_and_get_numbers_of_their_own) {
  MemoryProgram p = program(
      "s_mov_b32 s20, 1\ns_atomic_add s20, s[0:1], 0x0 glc\ns_mov_b32 s22, 5\ns_mov_b32 s23, 0\ns_waitcnt lgkmcnt(0)\n"
      "s_lshl_b32 s21, s20, 2\ns_mov_b32 s24, 1\ns_store_dword s24, s[0:1], s21\n"
      "s_atomic_add_x2 s[22:23], s[0:1], 0x7fc\n",
      20);
  p.threads = 256;
  p.memory[0] = 16;
  EXPECT_EQ(difference(p), "");
}

TEST(ScalarAtomics, a_buffer_holds_them_whole_or_not_at_all) {
  MemoryProgram p = program(
      "s_mov_b32 s20, 3\ns_mov_b32 s21, 4\ns_mov_b32 s22, 9\ns_mov_b32 s23, 9\ns_buffer_atomic_add s20, s[4:7], 0x8 "
      "glc\n"
      "s_buffer_atomic_add_x2 s[22:23], s[4:7], 0x10 glc\ns_mov_b32 s24, 7\ns_buffer_atomic_umax s24, s[4:7], 0x14\n"
      "s_buffer_atomic_swap s24, s[4:7], 0xc0\ns_waitcnt lgkmcnt(0)\ns_store_dwordx4 s[20:23], s[12:13], 0x40\n",
      30);
  p.groups = 1;
  describe(p, {.offset = 0x4000, .records = 20});
  EXPECT_EQ(difference(p), "");
}

}  // namespace
}  // namespace orrery::shader::memory_test
