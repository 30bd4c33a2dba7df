// Every DS instruction that updates LDS: alone on each lane's own bytes, and by many lanes on one place. LDS as
// workgroup memory and in device memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/memory/memory_program.hpp"

namespace orrery::shader::memory_test {
namespace {

// v[8:9], v[10:11]: data; v[12:13]: what LDS holds, at v1 = 16 * lane. Every other lane's first data is what LDS holds,
// some with another sign. Results go to v4, 16 bytes an operation.
constexpr const char* kStart =
    "v_lshlrev_b32 v1, 4, v0\nv_lshlrev_b32 v4, 7, v0\nv_add_nc_u32 v4, 0x4000, v4\nv_lshlrev_b32 v5, 5, v0\n"
    "buffer_load_dwordx4 v[8:11], v5, s[4:7], 0 offen\nbuffer_load_dwordx2 v[12:13], v5, s[4:7], 0 offen offset:16\n"
    "s_waitcnt vmcnt(0)\nv_and_b32 v6, 1, v0\nv_cmp_eq_u32 {m}, 1, v6\n"
    "v_cndmask_b32 v8, v8, v12, {m}\nv_cndmask_b32 v9, v9, v13, {m}\n"
    "v_and_b32 v6, 6, v0\nv_cmp_eq_u32 {m}, 6, v6\nv_mov_b32 v7, 0x80000000\nv_cndmask_b32 v7, 0, v7, {m}\n"
    "v_xor_b32 v8, v8, v7\nv_xor_b32 v9, v9, v7\n";

// Bound, so that the modules are short to compile.
MemoryProgram bound_program(uint32_t seed) {
  MemoryProgram p;
  p.addressed = false;
  describe(p, {.records = 32768});
  p.memory = random_words(seed, 4096);
  p.memory.resize(4096 * 2);
  return p;
}

MemoryProgram alone(const std::vector<std::string>& operations, uint32_t seed) {
  MemoryProgram p = bound_program(seed);
  p.whole_wave = false;
  p.lds_bytes = 2048;
  p.lds_homes = true;
  p.text = kStart;
  for (size_t n = 0; n < operations.size(); ++n) {
    p.text += fmt::format(
        "v_mov_b32 v20, 0\nv_mov_b32 v21, 0\nds_write_b64 v1, v[12:13]\ns_waitcnt lgkmcnt(0)\n{}\n"
        "ds_read_b64 v[22:23], v1\ns_waitcnt lgkmcnt(0)\nbuffer_store_dwordx4 v[20:23], v4, s[4:7], 0 offen "
        "offset:{}\n",
        operations[n], n * 16);
  }
  return p;
}

void check_each(const std::vector<std::string>& operations, uint32_t seed) {
  constexpr size_t kPerProgram = 4;  // a driver's time grows faster than the program
  for (size_t first = 0; first < operations.size(); first += kPerProgram) {
    const size_t end = std::min(operations.size(), first + kPerProgram);
    const std::vector<std::string> some(operations.begin() + static_cast<std::ptrdiff_t>(first),
                                        operations.begin() + static_cast<std::ptrdiff_t>(end));
    MemoryProgram p = alone(some, seed + static_cast<uint32_t>(first));
    p.both_widths = first == 0;
    EXPECT_EQ(difference(p), "") << some.front() << " and on";
  }
}

TEST(LdsAtomics, each_of_32_bits_does_as_in_the_interpreter_with_and_without_a_result) {
  std::vector<std::string> operations;
  for (const char* op : {"add_rtn_u32", "sub_rtn_u32", "rsub_rtn_u32", "inc_rtn_u32", "dec_rtn_u32", "min_rtn_i32",
                         "max_rtn_i32", "min_rtn_u32", "max_rtn_u32", "and_rtn_b32", "or_rtn_b32", "xor_rtn_b32",
                         "min_rtn_f32", "max_rtn_f32", "wrxchg_rtn_b32"})
    operations.push_back(fmt::format("ds_{} v20, v1, v8", op));
  for (const char* op : {"mskor_rtn_b32", "cmpst_rtn_b32", "cmpst_rtn_f32", "wrap_rtn_b32"})
    operations.push_back(fmt::format("ds_{} v20, v1, v8, v10", op));
  for (const char* op : {"rsub_u32", "dec_u32", "min_f32", "max_f32"})
    operations.push_back(fmt::format("ds_{} v1, v8 offset:4", op));
  operations.emplace_back("ds_mskor_b32 v1, v8, v10");
  operations.emplace_back("ds_cmpst_f32 v1, v8, v10");
  check_each(operations, 100);
}

TEST(LdsAtomics, each_of_64_bits_does_as_in_the_interpreter_with_and_without_a_result) {
  std::vector<std::string> operations;
  for (const char* op : {"add_rtn_u64", "sub_rtn_u64", "rsub_rtn_u64", "inc_rtn_u64", "dec_rtn_u64", "min_rtn_i64",
                         "max_rtn_i64", "min_rtn_u64", "max_rtn_u64", "and_rtn_b64", "or_rtn_b64", "xor_rtn_b64",
                         "min_rtn_f64", "max_rtn_f64", "wrxchg_rtn_b64"})
    operations.push_back(fmt::format("ds_{} v[20:21], v1, v[8:9]", op));
  for (const char* op : {"mskor_rtn_b64", "cmpst_rtn_b64", "cmpst_rtn_f64"})
    operations.push_back(fmt::format("ds_{} v[20:21], v1, v[8:9], v[10:11]", op));
  for (const char* op : {"add_u64", "min_u64", "max_f64"}) operations.push_back(fmt::format("ds_{} v1, v[8:9]", op));
  operations.emplace_back("ds_cmpst_b64 v1, v[8:9], v[10:11]");
  operations.emplace_back("ds_mskor_b64 v1, v[8:9], v[10:11]");
  check_each(operations, 200);
}

TEST(LdsAtomics, some_of_each_kind_do_so_with_the_whole_wave_in_one_invocation) {
  MemoryProgram p = alone({"ds_add_rtn_u32 v20, v1, v8", "ds_rsub_rtn_u64 v[20:21], v1, v[8:9]",
                           "ds_cmpst_rtn_f32 v20, v1, v8, v10", "ds_min_f64 v1, v[8:9]"},
                          250);
  p.whole_wave = true;
  EXPECT_EQ(difference(p), "");
}

TEST(LdsAtomics, one_of_64_bits_does_so_where_lanes_exchange_through_workgroup_memory) {
  MemoryProgram p = bound_program(260);
  p.whole_wave = p.both_widths = false;
  p.exchange = true;
  p.lds_bytes = 512;
  p.text =
      "v_lshlrev_b32 v1, 3, v0\nbuffer_load_dwordx2 v[8:9], v1, s[4:7], 0 offen\nv_xor_b32 v2, 8, v1\n"
      "s_waitcnt vmcnt(0)\nds_write_b64 v1, v[8:9]\nds_rsub_rtn_u64 v[20:21], v2, v[8:9]\ns_waitcnt lgkmcnt(0)\n"
      "buffer_store_dwordx2 v[20:21], v1, s[4:7], 0 offen\n";
  EXPECT_EQ(difference(p), "");
}

TEST(LdsAtomics, pairs_are_exchanged_in_elements_and_in_64_of_them) {
  MemoryProgram p = alone({"ds_wrxchg2_rtn_b32 v[20:21], v1, v8, v10 offset0:0 offset1:1",
                           "v_mov_b32 v14, 0\nds_write_b64 v1, v[12:13] offset:512\ns_waitcnt lgkmcnt(0)\n"
                           "ds_wrxchg2st64_rtn_b32 v[20:21], v1, v8, v10 offset0:2 offset1:0"},
                          300);
  p.both_widths = false;
  EXPECT_EQ(difference(p), "");
  MemoryProgram wide = alone({"ds_write_b64 v1, v[10:11] offset:8\ns_waitcnt lgkmcnt(0)\n"
                              "ds_wrxchg2_rtn_b64 v[16:19], v1, v[8:9], v[10:11] offset0:1 offset1:0\n"
                              "s_waitcnt lgkmcnt(0)\nv_xor_b32 v20, v16, v18\nv_add_nc_u32 v21, v17, v19",
                              "ds_write_b64 v1, v[10:11] offset:512\ns_waitcnt lgkmcnt(0)\n"
                              "ds_wrxchg2st64_rtn_b64 v[16:19], v1, v[8:9], v[10:11] offset0:1 offset1:0\n"
                              "s_waitcnt lgkmcnt(0)\nv_xor_b32 v20, v16, v18\nv_add_nc_u32 v21, v17, v19"},
                             301);
  wide.both_widths = false;
  EXPECT_EQ(difference(wide), "");
}

TEST(LdsAtomics, the_operand_may_lie_in_lds_itself) {
  std::vector<std::string> operations;
  // At A + 8: offset 2; with bit 15 the distance is A[31:17].
  for (const char* op : {"add_src2_u32", "rsub_src2_u32", "dec_src2_u32", "min_src2_f32", "write_src2_b32"})
    operations.push_back(fmt::format("ds_write_b64 v1, v[8:9] offset:8\ns_waitcnt lgkmcnt(0)\nds_{} v1 offset:2", op));
  for (const char* op : {"add_src2_u64", "max_src2_i64", "write_src2_b64"})
    operations.push_back(fmt::format("ds_write_b64 v1, v[8:9] offset:8\ns_waitcnt lgkmcnt(0)\nds_{} v1 offset:2", op));
  operations.emplace_back(
      "ds_write_b64 v1, v[8:9] offset:8\nv_or_b32 v14, 0x40000, v1\ns_waitcnt lgkmcnt(0)\n"
      "ds_xor_src2_b32 v14 offset:0x8000");
  operations.emplace_back(
      "ds_write_b64 v1, v[8:9] offset:8\nv_add_nc_u32 v14, 8, v1\nv_or_b32 v14, 0xfffc0000, v14\n"
      "s_waitcnt lgkmcnt(0)\nds_xor_src2_b32 v14 offset:0x8000");
  operations.emplace_back(
      "ds_write_b64 v1, v[8:9] offset:8\nv_add_nc_u32 v14, 8, v1\ns_waitcnt lgkmcnt(0)\n"
      "ds_sub_src2_u32 v14 offset:0x7ffe");
  check_each(operations, 400);
}

TEST(LdsAtomics, sums_of_floats_flush_denormals_as_mode_says) {
  MemoryProgram p =
      alone({"ds_add_rtn_f32 v20, v1, v10", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\nds_add_f32 v1, v10",
             "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 1\nds_add_rtn_f32 v20, v1, v10",
             "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 2\nds_add_rtn_f32 v20, v1, v10"},
            500);
  p.both_widths = false;
  // Numbers only, denormals among them: what bits a NaN has is the host's.
  for (size_t n = 0; n < 4096; ++n) {
    p.memory[n] &= n % 3 == 0 ? 0x80ffffffu : 0x80ffffffu >> (n % 2) | (n % 2 ? 0x80000000u : 0u);
  }
  EXPECT_EQ(difference(p), "");
}

TEST(LdsAtomics, an_address_is_a_multiple_of_the_size) {
  EXPECT_EQ(difference(alone({"v_add_nc_u32 v14, 3, v1\nds_add_rtn_u32 v20, v14, v8",
                              "v_add_nc_u32 v14, 1, v1\nds_xor_rtn_b64 v[20:21], v14, v[8:9] offset:5"},
                             600)),
            "");
}

// 128 threads of several waves on a few places; the result does not depend on their order.
MemoryProgram contended(const std::string& body, uint32_t seed) {
  MemoryProgram p = bound_program(seed);
  p.threads = 128;
  p.groups = 3;
  p.lds_bytes = 1024;
  p.lds_homes = true;
  p.text =
      "s_lshl_b32 s20, s16, 11\nv_lshl_add_u32 v5, v0, 4, s20\nbuffer_load_dwordx4 v[8:11], v5, s[4:7], 0 offen\n"
      "v_lshlrev_b32 v1, 3, v0\nv_mov_b32 v2, 0\ns_waitcnt vmcnt(0)\nds_write_b64 v1, v[8:9]\n"
      "s_waitcnt lgkmcnt(0)\ns_barrier\n" +
      body +
      "s_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b64 v[12:13], v1\ns_waitcnt lgkmcnt(0)\n"
      "v_lshl_add_u32 v4, v0, 3, s20\nv_add_nc_u32 v4, 0x4000, v4\nbuffer_store_dwordx2 v[12:13], v4, s[4:7], 0 "
      "offen\n";
  return p;
}

TEST(LdsAtomics, waves_contend_for_minima_with_nans_among_them) {
  MemoryProgram p = contended(
      "ds_min_f32 v2, v10\nds_max_f32 v2, v11 offset:4\nds_min_f64 v2, v[10:11] offset:8\n"
      "ds_max_f64 v2, v[10:11] offset:16\nds_max_f32 v2, v10 offset:24\n"
      "ds_min_f32 v2, v10 offset:28\nds_max_f64 v2, v[8:9] offset:32\n",
      700);
  p.memory[0] = 0x3f800000;
  p.memory[1] = 0xbf800000;
  p.memory[4 * 3] = 0x7fc00001;      // a NaN in memory stays
  p.memory[4 * 3 + 1] = 0x80000000;  // -0
  for (size_t n = 0; n < 4096; n += 97) p.memory[n | 2] = 0x7f800001 | static_cast<uint32_t>(n) << 31;
  EXPECT_EQ(difference(p), "");
}

TEST(LdsAtomics, waves_contend_for_sums_of_both_widths_in_the_same_bytes) {
  EXPECT_EQ(difference(contended("ds_add_u64 v2, v[8:9]\nds_add_u32 v2, v10\nds_add_u32 v2, v11 offset:4\n"
                                 "ds_xor_b64 v2, v[10:11] offset:8\nds_or_b64 v2, v[8:9] offset:16\n"
                                 "ds_max_u64 v2, v[8:9] offset:24\nds_xor_b32 v2, v10 offset:12\n",
                                 800)),
            "");
}

// Without a barrier: what one lane of a wave stores, its neighbours change as 64 bits and read as 32.
TEST(LdsAtomics, lanes_of_a_wave_exchange_through_both_widths_in_step) {
  MemoryProgram p = contended(
      "v_xor_b32 v14, 8, v1\nv_xor_b32 v15, 16, v1\nds_write_b32 v1, v10 offset:4\n"
      "ds_add_u64 v14, v[10:11]\nds_read_b32 v16, v15\nds_read_b32 v17, v15 offset:4\n"
      "s_waitcnt lgkmcnt(0)\nds_xor_b32 v14, v16\nds_cmpst_rtn_b64 v[18:19], v1, v[8:9], v[10:11]\n"
      "s_waitcnt lgkmcnt(0)\nds_write_b64 v15, v[18:19]\nds_add_u32 v1, v17\n",
      900);
  EXPECT_EQ(difference(p), "");
}

TEST(LdsAtomics, views_of_both_widths_are_valid_where_a_device_has_them) {
  EXPECT_EQ(invalid_as_views(contended("ds_add_u64 v2, v[8:9]\nds_add_u32 v2, v10\nds_write_b8 v2, v10\n"
                                       "ds_min_rtn_f64 v[12:13], v2, v[8:9]\nds_read_b128 v[12:15], v2\n",
                                       1)),
            "");
}

TEST(LdsAtomics, gds_is_refused_by_name) {
  MemoryProgram p;
  p.text = "v_mov_b32 v1, 0\nds_add_u32 v1, v0 gds\nds_append v2 gds\nds_gws_barrier v1 gds\n";
  const std::string said = refusals(p);
  EXPECT_NE(said.find("ds_add_u32: GDS"), std::string::npos) << said;
  EXPECT_NE(said.find("ds_append: GDS"), std::string::npos) << said;
  EXPECT_NE(said.find("ds_gws_barrier: GDS"), std::string::npos) << said;
}

}  // namespace
}  // namespace orrery::shader::memory_test
