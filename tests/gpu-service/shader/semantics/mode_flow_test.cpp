#include "gpu-service/shader/semantics/mode_flow.hpp"

#include <gtest/gtest.h>
#include <map>

#include "tests/gpu-service/shader/semantics/assemble.hpp"

namespace orrery::shader::semantics::test {
namespace {

// MODE at each v_add_f32, or -1 where the instruction would be refused.
std::vector<int> modes_at_adds(const std::vector<std::string>& lines, uint32_t rsrc1) {
  const Assembled assembled = assemble(lines, 32);
  EXPECT_EQ(assembled.error, "");
  Program program;
  uint32_t offset = 0;
  for (Instruction i : assembled.instructions) {
    i.offset = offset;
    offset += i.size;
    program.instructions.push_back(i);
  }
  program.extent = offset;
  const auto graph = cfg::structure(program);
  EXPECT_TRUE(graph) << graph.error().front().reason;
  if (!graph) return {};
  ModeFlow flow(program, *graph, rsrc1);
  std::map<uint32_t, int> found;  // by offset
  for (uint32_t n = 0; n < graph->blocks.size(); ++n) {
    flow.enter(n);
    for (uint32_t k = 0; k < graph->blocks[n].count; ++k) {
      const Instruction& i = program.instructions[graph->blocks[n].first + k];
      if (i.opcode == Opcode::v_add_f32) {
        found[i.offset] = flow.refusal(i) ? -1 : static_cast<int>(flow.mode().bits);
      }
      flow.pass(i);
    }
  }
  std::vector<int> modes;
  for (const auto& [at, mode] : found) modes.push_back(mode);
  return modes;
}

const std::string kAdd = "v_add_f32 v0, v1, v2";

TEST(ModeFlow, a_program_that_never_writes_mode_has_what_the_dispatch_says) {
  EXPECT_EQ(modes_at_adds({kAdd, "s_endpgm"}, 0xc5u << 12 | 1u << 23), std::vector<int>{0x2c5});
}

TEST(ModeFlow, immediates_change_their_field) {
  EXPECT_EQ(modes_at_adds({"s_round_mode 0x3", kAdd, "s_denorm_mode 0x5", kAdd,
                           "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3", kAdd, "s_endpgm"},
                          0xf0u << 12),
            (std::vector<int>{0xf3, 0x53, 0x73}));
}

TEST(ModeFlow, a_saved_mode_comes_back) {
  EXPECT_EQ(modes_at_adds({"s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 4)", "s_round_mode 0x1", kAdd, "s_mov_b32 s5, s4",
                           "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s5", kAdd, "s_endpgm"},
                          0xf2u << 12),
            (std::vector<int>{0xf1, 0xf2}));
}

TEST(ModeFlow, a_mode_from_an_unknown_register_refuses_what_needs_it) {
  EXPECT_EQ(
      modes_at_adds({kAdd, "s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s7", kAdd, "s_round_mode 0x0", kAdd, "s_endpgm"},
                    0xf0u << 12),
      (std::vector<int>{0xf0, -1, 0xf0}));
}

TEST(ModeFlow, paths_that_agree_join_and_others_refuse) {
  EXPECT_EQ(modes_at_adds({"s_cbranch_scc0 2", "s_round_mode 0x3", "s_branch 1", "s_round_mode 0x3", kAdd, "s_endpgm"},
                          0xf0u << 12),
            std::vector<int>{0xf3});
  EXPECT_EQ(modes_at_adds({"s_cbranch_scc0 1", "s_round_mode 0x3", kAdd, "s_endpgm"}, 0xf0u << 12),
            std::vector<int>{-1});
  // Around a loop: the second round would see another mode.
  EXPECT_EQ(modes_at_adds({kAdd, "s_round_mode 0x2", "s_cbranch_scc0 65533", "s_endpgm"}, 0xf0u << 12),
            std::vector<int>{-1});
}

}  // namespace
}  // namespace orrery::shader::semantics::test
