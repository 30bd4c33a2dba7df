#include <gtest/gtest.h>

#include "gpu-service/shader/translate.hpp"

namespace orrery::shader {
namespace {

constexpr uint32_t kEndpgm = 0xbf810000, kNop = 0xbf800000;
constexpr uint32_t branch(int16_t displacement) { return 0xbf820000u | static_cast<uint16_t>(displacement); }
constexpr uint32_t branch_if_scc0(int16_t displacement) { return 0xbf840000u | static_cast<uint16_t>(displacement); }

// Answers from a vector, as a mapping that ends behind it would.
CodeFetch mapped(const std::vector<uint32_t>& words) {
  return [&words](uint32_t offset, uint32_t dwords) -> std::span<const uint32_t> {
    const size_t first = offset / 4;
    return first >= words.size() ? std::span<const uint32_t>{}
                                 : std::span(words).subspan(first, std::min<size_t>(dwords, words.size() - first));
  };
}

TEST(ReadProgram, follows_branches_and_leaves_out_what_no_path_reaches) {
  const std::vector<uint32_t> words{branch_if_scc0(2), branch(2), 0xffffffff, kNop, kEndpgm, 0xffffffff};
  const auto program = read_program(mapped(words));
  ASSERT_TRUE(program) << program.error().reason;
  std::vector<uint32_t> offsets;
  for (const Instruction& instruction : program->instructions) {
    offsets.push_back(instruction.offset);
  }
  EXPECT_EQ(offsets, (std::vector<uint32_t>{0, 4, 12, 16}));
  EXPECT_EQ(program->extent, 20u);
}

TEST(ReadProgram, a_loop_is_read_once) {
  const auto program = read_program(mapped({}));
  EXPECT_FALSE(program);
  const std::vector<uint32_t> words{kNop, branch_if_scc0(-2), kEndpgm};
  const auto loop = read_program(mapped(words));
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->instructions.size(), 3u);
}

TEST(ReadProgram, code_without_an_end_is_refused_where_the_mapping_ends) {
  const std::vector<uint32_t> words{kNop, kNop};
  const auto program = read_program(mapped(words));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().offset, 8u);
  EXPECT_NE(program.error().reason.find("runs off its mapping"), std::string::npos);
}

TEST(ReadProgram, an_instruction_cut_by_the_end_of_the_mapping_is_refused) {
  const std::vector<uint32_t> words{kNop, 0xd5410008};
  const auto program = read_program(mapped(words));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().offset, 4u);
  EXPECT_NE(program.error().reason.find("truncated"), std::string::npos);
}

TEST(ReadProgram, endless_code_is_refused_at_the_bound) {
  const std::vector<uint32_t> piece(256, kNop);
  const auto program = read_program(
      [&](uint32_t, uint32_t dwords) { return std::span(piece).first(std::min<size_t>(dwords, piece.size())); });
  ASSERT_FALSE(program);
  EXPECT_LE(program.error().offset, kMaxProgramBytes);
  EXPECT_NE(program.error().reason.find("longer than"), std::string::npos);
}

TEST(ReadProgram, a_jump_into_the_middle_of_an_instruction_is_refused) {
  // s_mov_b32 s0, literal; then back to the literal, which would read as s_nop.
  const std::vector<uint32_t> words{0xbe8003ff, kNop, branch(-2), kEndpgm};
  const auto program = read_program(mapped(words));
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().reason.find("middle of an instruction"), std::string::npos);
  // The other order: the inside is read first, then the instruction around it.
  const std::vector<uint32_t> other{branch_if_scc0(1), 0xbe8003ff, kNop, kEndpgm};
  const auto second = read_program(mapped(other));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().reason.find("middle of"), std::string::npos);
}

TEST(ReadProgram, a_branch_out_of_the_program_is_refused) {
  const std::vector<uint32_t> words{branch(-3), kEndpgm};
  const auto program = read_program(mapped(words));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().mnemonic, "s_branch");
}

TEST(ReadProgram, the_hash_covers_reached_code_only) {
  std::vector<uint32_t> words{branch(1), 0x12345678, kEndpgm};
  const auto first = read_program(mapped(words));
  words[1] = 0x87654321;
  const auto second = read_program(mapped(words));
  words[2] = 0xbf810001;
  const auto third = read_program(mapped(words));
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(first->hash, second->hash);
  EXPECT_NE(first->hash, third->hash);
}

TEST(ReadProgram, a_jump_to_where_nothing_is_mapped_is_refused_at_the_jump) {
  const std::vector<uint32_t> words{0xbf800000, branch(100), kEndpgm};
  const auto program = read_program(mapped(words));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().offset, 4u);
  EXPECT_EQ(program.error().mnemonic, "s_branch");
  EXPECT_EQ(program.error().reason, "leads to 408 bytes, which are not mapped");
}

TEST(ReadProgram, a_computed_jump_ends_the_walk_without_a_refusal) {
  const std::vector<uint32_t> words{0xbe802004, 0xffffffff};  // s_setpc_b64 s[4:5]
  const auto program = read_program(mapped(words));
  ASSERT_TRUE(program);
  EXPECT_EQ(program->instructions.size(), 1u);
}

}  // namespace
}  // namespace orrery::shader
