// Atomics of buffers, global and flat addresses: each alone on a lane's own bytes, and under contention.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/memory/memory_program.hpp"

namespace orrery::shader::memory_test {
namespace {

// v[8:11]: data, also in v[20:23]; v1 = 16 * lane: where memory is changed; every other lane's compare is what memory
// holds. Results to v5 = 0x4000 + 64 * lane.
MemoryProgram program(const std::string& body, uint32_t seed) {
  MemoryProgram p;
  p.whole_wave = false;
  p.memory = random_words(seed, 4096);
  p.memory.resize(4096 * 2);
  describe(p, {.records = 32768});
  p.text =
      "v_lshlrev_b32 v1, 4, v0\nv_lshlrev_b32 v5, 6, v0\nv_add_nc_u32 v5, 0x4000, v5\n"
      "buffer_load_dwordx4 v[8:11], v1, s[4:7], 0 offen offset:2048\nbuffer_load_dwordx4 v[12:15], v1, s[4:7], 0 "
      "offen\n"
      "v_and_b32 v6, 1, v0\nv_cmp_eq_u32 {m}, 1, v6\ns_waitcnt vmcnt(0)\n" +
      body;
  return p;
}

struct Kind {
  const char* name;
  bool compares = false, wide = true;
};
constexpr Kind kKinds[] = {{"swap"}, {"cmpswap", true},  {"add"},  {"sub"}, {"smin"}, {"umin"},
                           {"smax"}, {"umax"},           {"and"},  {"or"},  {"xor"},  {"inc"},
                           {"dec"},  {"fcmpswap", true}, {"fmin"}, {"fmax"}};

// Operation n of the program changes memory at v1 and stores what came back.
std::string operation(const Kind& kind, bool wide, const std::string& family, size_t n) {
  const std::string registers = wide ? (kind.compares ? "v[20:23]" : "v[20:21]") : (kind.compares ? "v[20:21]" : "v20");
  const std::string result = wide ? "v[20:21]" : "v20";
  const std::string name = fmt::format("{}_atomic_{}{}", family, kind.name, wide ? "_x2" : "");
  std::string text = "v_mov_b32 v20, v8\nv_mov_b32 v21, v9\nv_mov_b32 v22, v10\nv_mov_b32 v23, v11\n";
  if (kind.compares) {
    text += wide ? "v_cndmask_b32 v22, v22, v12, {m}\nv_cndmask_b32 v23, v23, v13, {m}\n"
                 : "v_cndmask_b32 v21, v21, v12, {m}\n";
  }
  text += "buffer_store_dwordx4 v[12:15], v1, s[4:7], 0 offen\ns_waitcnt_vscnt null, 0\n";
  if (family == "buffer") {
    text += fmt::format("{} {}, v1, s[4:7], 0 offen glc\n", name, registers);
  } else if (family == "global") {
    text += fmt::format("{} {}, v1, {}, s[0:1] glc\n", name, result, registers);
  } else {
    text += fmt::format(
        "v_add_co_u32 v2, {{m}}, s0, v1\nv_mov_b32 v3, s1\n{} {}, v[2:3], {} glc\n"
        "v_cmp_eq_u32 {{m}}, 1, v6\n",
        name, result, registers);
  }
  return text + fmt::format(
                    "s_waitcnt vmcnt(0) lgkmcnt(0)\nbuffer_load_dwordx2 v[22:23], v1, s[4:7], 0 offen glc\n"
                    "s_waitcnt vmcnt(0)\nbuffer_store_dwordx4 v[20:23], v5, s[4:7], 0 offen offset:{}\n"
                    "s_waitcnt_vscnt null, 0\n",
                    n * 16);
}

class Atomics : public testing::TestWithParam<const char*> {};

TEST_P(Atomics, each_of_both_widths_does_as_in_the_interpreter) {
  const std::string family = GetParam();
  // What a flat address adds is where it goes, not what is done there.
  const size_t step = family == "flat" ? 6 : 2;
  for (size_t first = 0; first < std::size(kKinds); first += step) {
    std::string body;
    for (size_t n = 0; n < 2; ++n) {
      body += operation(kKinds[first + n], false, GetParam(), n * 2);
      body += operation(kKinds[first + n], true, GetParam(), n * 2 + 1);
    }
    MemoryProgram p = program(body, 40 + static_cast<uint32_t>(first));
    p.addressed = family == "buffer" && first == 0;
    p.both_widths = first == 0;
    EXPECT_EQ(difference(p), "") << kKinds[first].name;
  }
}
INSTANTIATE_TEST_SUITE_P(Families, Atomics, testing::Values("buffer", "global", "flat"),
                         [](const auto& info) { return std::string(info.param); });

TEST(AtomicEdges, a_device_without_64_bit_atomics_refuses_them_by_name) {
  const auto refused = [](const std::string& body) { return refusals_without_wide_atomics(program(body, 1)); };
  EXPECT_NE(refused("buffer_atomic_add_x2 v[8:9], v1, s[4:7], 0 offen\n").find("64-bit atomic; the device has none"),
            std::string::npos);
  EXPECT_NE(refused("global_atomic_fmin_x2 v1, v[8:9], s[0:1]\n").find("64-bit atomic; the device has none"),
            std::string::npos);
  EXPECT_NE(refused("ds_add_u64 v1, v[8:9]\n").find("64-bit LDS atomics, which the device has neither"),
            std::string::npos);
  EXPECT_EQ(refused("buffer_atomic_add v8, v1, s[4:7], 0 offen\nds_add_u32 v1, v8\n"), "");
}

TEST(AtomicEdges, csub_stops_at_0) {
  MemoryProgram p = program(
      "v_mov_b32 v20, v8\nbuffer_atomic_csub v20, v1, s[4:7], 0 offen glc\n"
      "global_atomic_csub v21, v1, v9, s[0:1] offset:4 glc\ns_waitcnt vmcnt(0)\n"
      "buffer_store_dwordx2 v[20:21], v5, s[4:7], 0 offen\n",
      70);
  p.processor = "gfx1030";
  EXPECT_EQ(difference(p), "");
}

// Three groups of four waves on few places; no order changes what is left.
TEST(AtomicEdges, minima_and_maxima_of_floats_pass_over_nans_under_contention) {
  MemoryProgram p;
  p.threads = 128;
  p.groups = 3;
  p.memory = random_words(80, 4096);
  p.memory.resize(4096 * 2);
  for (size_t n = 1; n < 1536; n += 5) p.memory[n] = 0x7f800001 | static_cast<uint32_t>(n) << 31;  // NaNs
  for (size_t n = 4096; n < 4112; ++n) p.memory[n] = n % 2 != 0 ? 0x40000000 : 0x3f800000;
  p.memory[4096 + 2] = 0x7fc00000;  // stays
  p.memory[4096 + 3] = 0x80000000;
  describe(p, {.records = 32768});
  p.text =
      "s_lshl_b32 s20, s16, 11\nv_lshl_add_u32 v1, v0, 4, s20\nv_mov_b32 v2, 0x4000\n"
      "buffer_load_dwordx4 v[8:11], v1, s[4:7], 0 offen\ns_waitcnt vmcnt(0)\n"
      "buffer_atomic_fmin v8, v2, s[4:7], 0 offen\nbuffer_atomic_fmax v9, v2, s[4:7], 0 offen offset:4\n"
      "buffer_atomic_fmax v10, v2, s[4:7], 0 offen offset:8\nbuffer_atomic_fmin v11, v2, s[4:7], 0 offen offset:12\n"
      "buffer_atomic_fmin_x2 v[8:9], v2, s[4:7], 0 offen offset:16\n"
      "buffer_atomic_fmax_x2 v[10:11], v2, s[4:7], 0 offen offset:24\n"
      "global_atomic_fmax v2, v8, s[0:1] offset:32\nglobal_atomic_inc v2, v9, s[0:1] offset:36\n"
      "v_mov_b32 v12, 40\nglobal_atomic_inc v2, v12, s[0:1] offset:40\n";
  p.text.replace(p.text.find("global_atomic_inc v2, v9, s[0:1] offset:36\n"), 43, "");
  p.addressed = false;
  EXPECT_EQ(difference(p), "");
}

TEST(AtomicEdges, a_buffer_holds_64_bits_whole_or_not_at_all) {
  MemoryProgram p = program(
      "v_lshlrev_b32 v2, 2, v0\nv_mov_b32 v20, v8\nv_mov_b32 v21, v9\nv_mov_b32 v22, v10\n"
      "v_cmpx_eq_u32 0, v0\nv_mov_b32 v2, 0x34\n"
      "buffer_atomic_add_x2 v[20:21], v2, s[8:11], 0 offen glc\n"
      "buffer_atomic_add v22, v2, s[8:11], 0 offen glc\ns_waitcnt vmcnt(0)\n"
      "buffer_store_dwordx3 v[20:22], v5, s[4:7], 0 offen\n",
      90);
  p.sgprs[8] = p.sgprs[4];
  p.sgprs[9] = p.sgprs[5];
  p.sgprs[10] = 0x38;
  p.sgprs[11] = p.sgprs[7];
  EXPECT_EQ(difference(p), "");
}

TEST(AtomicEdges, flat_addresses_reach_lds_and_private_memory) {
  MemoryProgram p = program(
      "s_mov_b64 s[20:21], src_shared_base\ns_mov_b64 s[22:23], src_private_base\n"
      "v_mov_b32 v2, 8\nv_mov_b32 v3, s23\nv_mov_b32 v16, v1\nv_mov_b32 v17, s21\n"
      "v_mov_b32 v24, 0\nscratch_store_dwordx4 v24, v[12:15], off\nds_write_b128 v1, v[12:15]\n"
      "s_waitcnt_vscnt null, 0\ns_waitcnt lgkmcnt(0)\n"
      // Odd lanes to LDS, the others to private memory.
      "v_cndmask_b32 v2, v2, v16, {m}\nv_cndmask_b32 v3, v3, v17, {m}\n"
      "flat_atomic_add v20, v[2:3], v8 glc\nflat_atomic_fmin v21, v[2:3], v9 glc\n"
      "s_waitcnt vmcnt(0) lgkmcnt(0)\nflat_atomic_umax_x2 v[22:23], v[2:3], v[10:11] glc\n"
      "s_waitcnt vmcnt(0) lgkmcnt(0)\nds_read_b64 v[26:27], v1\n"
      "scratch_load_dwordx2 v[28:29], v24, off offset:8\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
      "buffer_store_dwordx4 v[20:23], v5, s[4:7], 0 offen\n"
      "buffer_store_dwordx4 v[26:29], v5, s[4:7], 0 offen offset:16\n",
      95);
  p.lds_bytes = 1024;
  p.scratch_dwords = 4;
  p.addressed = false;
  // SCRATCH_EN makes s[0:3] the private segment's descriptor; this program uses flat instructions only.
  EXPECT_EQ(difference(p), "");
}

}  // namespace
}  // namespace orrery::shader::memory_test
