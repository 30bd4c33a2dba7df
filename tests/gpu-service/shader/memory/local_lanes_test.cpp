// DS instructions that move values between lanes: permutes and every mode of the swizzle, with lanes off.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/memory/memory_program.hpp"

namespace orrery::shader::memory_test {
namespace {

// v8..v11: random; results of the body in v12..v15. v16: lanes that are off keep it.
MemoryProgram program(const std::string& body, uint32_t seed) {
  MemoryProgram p;
  p.addressed = p.whole_wave = false;
  describe(p, {.records = 16384});
  p.memory = random_words(seed, 2048);
  p.memory.resize(4096);
  p.text =
      "v_lshlrev_b32 v1, 4, v0\nbuffer_load_dwordx4 v[8:11], v1, s[4:7], 0 offen\nv_mov_b32 v12, 77\nv_mov_b32 v13, "
      "77\n"
      "v_mov_b32 v14, 77\nv_mov_b32 v15, 77\ns_waitcnt vmcnt(0)\n" +
      body +
      "s_mov_b64 exec, -1\ns_waitcnt lgkmcnt(0)\nbuffer_store_dwordx4 v[12:15], v1, s[4:7], 0 offen offset:4080\n";
  p.text.replace(p.text.find("offset:4080"), 11, "offset:2048");
  return p;
}
const std::string kSomeOff = "v_cmpx_gt_i32 0x40000000, v11\n";

TEST(LocalLanes, pushed_values_arrive_and_the_highest_lane_counts_where_several_push) {
  const std::string body =
      "ds_permute_b32 v12, v8, v9\nds_permute_b32 v13, v9, v10 offset:8\n"
      "v_lshlrev_b32 v2, 2, v0\nv_xor_b32 v2, 0x4c, v2\nds_permute_b32 v14, v2, v10\n";
  EXPECT_EQ(difference(program(body, 1)), "");
  EXPECT_EQ(difference(program(kSomeOff + body, 2)), "");
  MemoryProgram p = program(kSomeOff + "ds_permute_b32 v12, v8, v9\n", 3);
  p.exchange = p.whole_wave = true;
  p.both_widths = false;
  EXPECT_EQ(difference(p), "");
}

TEST(LocalLanes, pulled_values_come_from_lanes_that_are_on) {
  EXPECT_EQ(difference(program(kSomeOff + "ds_bpermute_b32 v12, v8, v9\nds_bpermute_b32 v13, v9, v10 offset:124\n", 4)),
            "");
}

TEST(LocalLanes, every_mode_of_the_swizzle_reads_the_lane_that_the_document_says) {
  const uint32_t patterns[] = {0x041f, 0x7c00, 0x03e0, 0x1234, 0x801b, 0x80e4, 0xc020, 0xc43f,
                               0xc0f8, 0xc7e3, 0xdfff, 0xe000, 0xe001, 0xe01f, 0xe013, 0xffff};
  for (size_t first = 0; first < std::size(patterns); first += 4) {
    std::string body;
    for (size_t n = 0; n < 4; ++n) {
      body += fmt::format("ds_swizzle_b32 v{}, v{} offset:{:#x}\n", 12 + n, 8 + n, patterns[first + n]);
    }
    MemoryProgram p = program(kSomeOff + body, 10 + static_cast<uint32_t>(first));
    p.both_widths = first == 0;
    EXPECT_EQ(difference(p), "") << std::hex << patterns[first];
  }
}

}  // namespace
}  // namespace orrery::shader::memory_test
