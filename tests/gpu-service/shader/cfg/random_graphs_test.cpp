#include <gtest/gtest.h>

#include "tests/gpu-service/shader/cfg/guest_program.hpp"
#include "tests/gpu-service/shader/cfg/rules.hpp"
#include "tests/gpu-service/shader/cfg/spirv_skeleton.hpp"
#include "tests/gpu-service/shader/cfg/walk.hpp"

namespace orrery::shader::cfg::test {
namespace {

std::string listing(const std::vector<TestBlock>& blocks) {
  std::string text;
  for (size_t i = 0; i < blocks.size(); ++i) {
    text += std::to_string(i) + ": " + std::to_string(blocks[i].instructions) + " ";
    if (blocks[i].terminator != Opcode::invalid) text += mnemonic(blocks[i].terminator);
    text += " " + std::to_string(blocks[i].target) + "\n";
  }
  return text;
}

void check(const std::vector<TestBlock>& blocks, uint32_t seed, bool validate) {
  const Program program = make_program(blocks);
  const auto graph = structure(program);
  ASSERT_TRUE(graph.has_value()) << listing(blocks) << graph.error()[0].reason;
  ASSERT_EQ(broken_rule(*graph), "") << listing(blocks);
  if (validate) {
    ASSERT_EQ(validate_skeleton(*graph), "") << listing(blocks);
  }
  for (uint32_t walk = 0; walk < 6; ++walk) {
    constexpr uint32_t kSteps = 300;
    const Walk original = walk_program(program, seed * 8 + walk, kSteps);
    const Walk structured = walk_graph(*graph, program, seed * 8 + walk, kSteps);
    ASSERT_EQ(structured.error, "") << listing(blocks);
    const size_t common = original.ended ? original.instructions.size()
                                         : std::min(original.instructions.size(), structured.instructions.size());
    ASSERT_LE(common, structured.instructions.size()) << listing(blocks);
    if (original.ended) {
      ASSERT_EQ(original.instructions, structured.instructions) << listing(blocks);
    }
    ASSERT_TRUE(std::equal(original.instructions.begin(),
                           original.instructions.begin() + static_cast<ptrdiff_t>(common),
                           structured.instructions.begin()))
        << listing(blocks);
    const size_t decided = std::min(original.decisions.size(), structured.decisions.size());
    ASSERT_TRUE(std::equal(original.decisions.begin(), original.decisions.begin() + static_cast<ptrdiff_t>(decided),
                           structured.decisions.begin()))
        << listing(blocks);
  }
}

void expect_no_detour(const std::vector<TestBlock>& blocks) {
  const auto graph = structure(make_program(blocks));
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(graph->routes, 0u) << listing(blocks);
  EXPECT_FALSE(graph->dispatcher);
}

void check_many(Shape shape, uint32_t graphs, uint32_t largest) {
  std::mt19937 random(20260101u + static_cast<uint32_t>(shape));
  for (uint32_t i = 0; i < graphs; ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    const uint32_t size = 1 + static_cast<uint32_t>(random() % largest);
    const std::vector<TestBlock> blocks = random_blocks(random, shape, size);
    check(blocks, i, i % 4 == 0);
    if (shape == Shape::nested) expect_no_detour(blocks);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomGraphs, small_graphs_of_any_shape_run_as_before) { check_many(Shape::any, 6000, 7); }
TEST(RandomGraphs, graphs_of_any_shape_run_as_before) { check_many(Shape::any, 2500, 24); }
TEST(RandomGraphs, overlapping_early_exits_run_as_before) { check_many(Shape::forward, 3000, 20); }
TEST(RandomGraphs, nested_statements_run_as_before) { check_many(Shape::nested, 2500, 30); }
TEST(RandomGraphs, bent_nested_statements_run_as_before) { check_many(Shape::mostly_nested, 2500, 30); }

}  // namespace
}  // namespace orrery::shader::cfg::test
