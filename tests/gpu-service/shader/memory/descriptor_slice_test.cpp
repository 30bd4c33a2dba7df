// The slice that computes a buffer's descriptor, against the same scalar code in the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstring>
#include <random>

#include "gpu-service/shader/scalar_slice.hpp"
#include "tests/gpu-service/shader/interpret/assembled.hpp"
#include "tests/gpu-service/shader/interpret/host_bytes.hpp"

namespace orrery::shader::testing {
namespace {

using Words = std::array<uint32_t, 4>;

// Scalar code that leaves a descriptor in s[12:15]. s[0:1] points to `memory`, whose first 16 bytes the test keeps for
// itself; s2..s9 are user data, s16 and s17 the group.
struct Code {
  std::string text;
  std::vector<uint32_t> memory = std::vector<uint32_t>(256);
  std::map<uint32_t, uint32_t> user{};

  uint64_t at(size_t word) const { return reinterpret_cast<uint64_t>(memory.data() + word); }
  void put_pointer(size_t word, uint64_t value) { std::memcpy(memory.data() + word, &value, 8); }
  std::array<uint32_t, 16> user_data() const {
    std::array<uint32_t, 16> words{};
    const uint64_t base = at(0);
    std::memcpy(words.data(), &base, 8);
    for (const auto& [index, value] : user) words[index] = value;
    return words;
  }
};

constexpr uint32_t kRsrc2 = 16u << 1 | 1u << 7 | 1u << 8;

Module translated(const std::string& text) {
  const auto words = assemble(text + "\nbuffer_store_dword v0, v0, s[12:15], 0 offen", 32);
  TranslateOptions options;
  options.layout = subgroup_layout(32, 32);
  options.group_size = {32, 1, 1};
  options.rsrc2 = kRsrc2;
  auto module = translate(program_of(words), options);
  if (!module) throw std::runtime_error(module.error().front().mnemonic + ": " + module.error().front().reason);
  return std::move(*module);
}

Words interpreted(Code& code) {
  const auto words = assemble(code.text +
                                  "\nv_mov_b32 v9, 0\nv_mov_b32 v1, s12\nv_mov_b32 v2, s13\nv_mov_b32 v3, s14\n"
                                  "v_mov_b32 v4, s15\nglobal_store_dwordx4 v9, v[1:4], s[0:1]",
                              32);
  const Program program = program_of(words);
  interpret::Dispatch dispatch;
  dispatch.program = &program;
  dispatch.program_address = reinterpret_cast<uint64_t>(words.data());
  dispatch.group_size = {1, 1, 1};
  dispatch.rsrc2 = kRsrc2;
  dispatch.user_data = code.user_data();
  HostBytes bytes;
  bytes.add(code.memory.data(), code.memory.size() * 4);
  const auto outcome = run(dispatch, bytes);
  if (outcome.refusal) throw std::runtime_error(outcome.refusal->reason);
  Words out;
  std::memcpy(out.data(), code.memory.data(), 16);
  std::fill_n(code.memory.begin(), 4, 0u);
  return out;
}

struct Sliced {
  std::expected<std::array<uint64_t, 4>, SliceError> values;
  size_t reads = 0;
};
Sliced sliced(const Code& code, const DescriptorSource& source) {
  const auto user = code.user_data();
  HostBytes bytes;
  bytes.add(code.memory.data(), code.memory.size() * 4);
  Sliced result;
  result.values = evaluate(source.steps, source.words, {user, 0, [&](uint64_t address, std::span<std::byte> out) {
                                                          ++result.reads;
                                                          return bytes.read(address, out);
                                                        }});
  return result;
}

void expect_same(Code& code) {
  SCOPED_TRACE(code.text);
  const Module module = translated(code.text);
  EXPECT_FALSE(module.writes_anywhere) << text(module.write_reason);
  ASSERT_FALSE(module.buffers.empty());
  const auto& stored = *std::ranges::find(module.buffers, true, &BoundBuffer::written);
  const Words right = interpreted(code);
  const auto slice = sliced(code, stored.source);
  ASSERT_TRUE(slice.values);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ((*slice.values)[i], right[i]) << "dword " << i;
}

void expect_end(const std::string& code, TraceEnd end) {
  const Module module = translated(code);
  EXPECT_TRUE(module.writes_anywhere) << code;
  EXPECT_STREQ(text(module.write_reason), text(end)) << code;
}

TEST(DescriptorSlice, tables_of_tables_are_followed) {
  Code code{
      "s_load_dwordx2 s[20:21], s[0:1], 0x40\ns_load_dwordx2 s[22:23], s[20:21], 0x8\n"
      "s_load_dwordx4 s[12:15], s[22:23], 0x10"};
  code.put_pointer(16, code.at(32));
  code.put_pointer(34, code.at(64));
  for (uint32_t i = 0; i < 4; ++i) code.memory[68 + i] = 0x1000 + i;
  expect_same(code);
  const auto slice = sliced(code, translated(code.text).buffers.front().source);
  EXPECT_EQ(slice.reads, 3u);
}

TEST(DescriptorSlice, an_entry_whose_number_is_computed_is_found) {
  Code code{
      "s_lshl_b32 s20, s2, 4\ns_and_b32 s20, s20, 0xff0\ns_add_u32 s20, s0, s20\ns_addc_u32 s21, s1, 0\n"
      "s_load_dwordx4 s[12:15], s[20:21], null"};
  code.user = {{2, 5}};
  for (uint32_t i = 0; i < 4; ++i) code.memory[20 + i] = 0x2000 + i;
  expect_same(code);
}

TEST(DescriptorSlice, a_descriptor_in_a_constant_buffer_is_found) {
  Code code{"s_buffer_load_dwordx4 s[12:15], s[4:7], s3"};
  code.user = {{3, 32},
               {4, static_cast<uint32_t>(code.at(8))},
               {5, static_cast<uint32_t>(code.at(8) >> 32)},
               {6, 44},
               {7, 3u << 28}};
  for (uint32_t i = 0; i < 8; ++i) code.memory[16 + i] = 0x3000 + i;
  // The last dword lies behind the buffer's end and is 0.
  expect_same(code);
}

TEST(DescriptorSlice, a_branch_or_a_select_chooses_the_descriptor) {
  for (const uint32_t chosen : {0u, 1u, 7u}) {
    Code branch{
        "s_cmp_eq_u32 s2, 7\ns_cbranch_scc1 L1\ns_load_dwordx4 s[12:15], s[0:1], 0x20\ns_branch L2\n"
        "L1:\ns_load_dwordx4 s[12:15], s[0:1], 0x40\nL2:\ns_add_u32 s14, s14, 1"};
    branch.user = {{2, chosen}};
    for (uint32_t i = 0; i < 32; ++i) branch.memory[i] = 0x4000 + i;
    expect_same(branch);
    Code triangle{
        "s_load_dwordx4 s[12:15], s[0:1], 0x20\ns_bitcmp1_b32 s2, 0\ns_cbranch_scc0 L1\ns_mov_b32 s14, 99\nL1:"};
    triangle.user = branch.user;
    triangle.memory = branch.memory;
    expect_same(triangle);
    Code select{"s_cmp_lg_u32 s2, 0\ns_cselect_b32 s20, 0x20, 0x40\ns_load_dwordx4 s[12:15], s[0:1], s20"};
    select.user = branch.user;
    select.memory = branch.memory;
    expect_same(select);
  }
}

TEST(DescriptorSlice, the_arm_that_is_not_taken_reads_nothing) {
  Code code{
      "s_cmp_lg_u64 s[2:3], 0\ns_cbranch_scc1 L1\ns_mov_b64 s[12:13], 0\ns_mov_b64 s[14:15], 0\ns_branch L2\n"
      "L1:\ns_load_dwordx4 s[12:15], s[2:3], 0x0\nL2:"};
  expect_same(code);
  const Module module = translated(code.text);
  const auto& source = std::ranges::find(module.buffers, true, &BoundBuffer::written)->source;
  EXPECT_EQ(sliced(code, source).reads, 0u);
  code.user = {{2, 0x1230}};  // not mapped
  const auto slice = sliced(code, source);
  ASSERT_FALSE(slice.values);
  EXPECT_EQ(slice.values.error().kind, SliceError::Kind::unmapped);
  EXPECT_EQ(slice.values.error().value, 0x1230u);
}

TEST(DescriptorSlice, what_ends_the_way_is_named) {
  expect_end("s_lshl_b32 s20, s16, 4\ns_load_dwordx4 s[12:15], s[0:1], s20", TraceEnd::group);
  expect_end("v_readfirstlane_b32 s20, v0\ns_load_dwordx4 s[12:15], s[0:1], s20", TraceEnd::lanes);
  expect_end("v_cmp_eq_u32 vcc_lo, 3, v0\ns_mov_b32 s20, vcc_lo\ns_load_dwordx4 s[12:15], s[0:1], s20",
             TraceEnd::lanes);
  expect_end(
      "s_mov_b32 s20, 0\nL1:\ns_add_u32 s20, s20, 16\ns_cmp_lt_u32 s20, s2\ns_cbranch_scc1 L1\n"
      "s_load_dwordx4 s[12:15], s[0:1], s20",
      TraceEnd::loop);
  std::string deep = "s_mov_b64 s[20:21], s[0:1]\n";
  for (int i = 0; i < 600; ++i) deep += "s_load_dwordx2 s[20:21], s[20:21], 0x0\n";
  expect_end(deep + "s_load_dwordx4 s[12:15], s[20:21], 0x0", TraceEnd::too_long);
}

TEST(DescriptorSlice, stores_that_no_descriptor_bounds_are_named_first_instruction_first) {
  const auto words = assemble(
      "buffer_store_dword v0, v0, s[4:7], 0 offen\nv_mov_b32 v1, 0\nglobal_store_dword v1, v0, s[0:1]\n"
      "global_atomic_add v1, v0, s[0:1]",
      32);
  TranslateOptions options;
  options.layout = subgroup_layout(32, 32);
  options.group_size = {32, 1, 1};
  options.rsrc2 = kRsrc2;
  const auto module = translate(program_of(words), options);
  ASSERT_TRUE(module);
  EXPECT_TRUE(module->writes_anywhere);
  EXPECT_EQ(module->write_instruction, 12u);
  EXPECT_EQ(module->buffers.size(), 1u);
  EXPECT_FALSE(translated("s_mov_b64 s[12:13], s[4:5]\ns_mov_b64 s[14:15], s[6:7]").writes_anywhere);
}

// Scalar arithmetic in the place of the descriptor's dwords.
std::string random_code(std::mt19937& random, std::map<uint32_t, uint32_t>& user) {
  const char* const three[] = {
      "s_add_u32",     "s_sub_u32",     "s_addc_u32",      "s_subb_u32",        "s_mul_i32",
      "s_mul_hi_u32",  "s_mul_hi_i32",  "s_and_b32",       "s_or_b32",          "s_xor_b32",
      "s_andn2_b32",   "s_nand_b32",    "s_lshl_b32",      "s_lshr_b32",        "s_ashr_i32",
      "s_bfe_u32",     "s_bfe_i32",     "s_bfm_b32",       "s_min_i32",         "s_max_u32",
      "s_cselect_b32", "s_absdiff_i32", "s_lshl2_add_u32", "s_pack_ll_b32_b16", "s_pack_hh_b32_b16"};
  const char* const two[] = {"s_mov_b32",      "s_not_b32",       "s_brev_b32",  "s_bcnt1_i32_b32",
                             "s_ff1_i32_b32",  "s_flbit_i32_b32", "s_flbit_i32", "s_sext_i32_i8",
                             "s_sext_i32_i16", "s_abs_i32",       "s_cmov_b32",  "s_bitset1_b32"};
  const char* const compares[] = {"s_cmp_eq_u32", "s_cmp_lt_i32", "s_cmp_ge_u32", "s_cmp_gt_i32", "s_bitcmp1_b32"};
  const auto pick = [&](auto& names) { return names[random() % std::size(names)]; };
  const auto any = [&] { return 2 + random() % 8; };
  const auto operand = [&] {
    return random() % 4 == 0 ? fmt::format("{:#x}", random() % 3 == 0 ? random() : random() % 64)
                             : fmt::format("s{}", random() % 2 == 0 ? any() : 12 + random() % 4);
  };
  for (uint32_t i = 2; i < 10; ++i) user[i] = static_cast<uint32_t>(random() % 3 == 0 ? random() % 40 : random());
  std::string text = "s_cmp_eq_u32 s2, s3\n";  // SCC is not defined at the start
  for (uint32_t i = 0; i < 4; ++i) text += fmt::format("s_mov_b32 s{}, s{}\n", 12 + i, any());
  for (uint32_t n = 0; n < 40; ++n) {
    const auto to = 12 + random() % 4;
    switch (random() % 4) {
      case 0:
        text += fmt::format("{} s{}, s{}\n", pick(compares), 12 + random() % 4, any());
        break;
      case 1:
        text += fmt::format("{} s{}, {}\n", pick(two), to, operand());
        break;
      default:
        text += fmt::format("{} s{}, {}, s{}\n", pick(three), to, operand(), 12 + random() % 4);
    }
  }
  return text;
}

TEST(DescriptorSlice, random_scalar_code_gives_what_the_interpreter_gives) {
  std::mt19937 random(7);
  for (int round = 0; round < 16; ++round) {
    Code code;
    code.text = random_code(random, code.user);
    expect_same(code);
  }
}

TEST(DescriptorSlice, damaged_slices_are_named_and_end) {
  const SliceInput input{{}, 0, [](uint64_t, std::span<std::byte>) { return true; }};
  const std::array<uint16_t, 4> first{};
  const auto malformed = [&](const SliceStep& step) {
    const auto values = evaluate({&step, 1}, first, input);
    return !values && values.error().kind == SliceError::Kind::malformed;
  };
  EXPECT_TRUE(malformed({.op = ir::Op::iadd, .count = 2, .args = {0, 0}}));  // its own operand
  EXPECT_TRUE(malformed({.op = ir::Op::iadd, .count = 9}));
  EXPECT_TRUE(malformed({.op = ir::Op::user_data, .imm = 1ull << 40}));
  EXPECT_TRUE(malformed({.op = ir::Op::ballot}));
  EXPECT_TRUE(malformed({.op = ir::Op::component}));
  EXPECT_TRUE(malformed({.op = ir::Op::load}));
  EXPECT_FALSE(evaluate({}, first, input));
  const std::vector<SliceStep> many(kMostSliceSteps + 1);
  EXPECT_FALSE(evaluate(many, first, input));
}

}  // namespace
}  // namespace orrery::shader::testing
