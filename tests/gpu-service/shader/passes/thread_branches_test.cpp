// Joins that ask which way was taken. What comes out is also a valid module.
#include <gtest/gtest.h>

#include "gpu-service/shader/passes/passes.hpp"
#include "gpu-service/shader/spirv/emitter.hpp"
#include "tests/gpu-service/shader/spirv/hand_program.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::shader::test {
namespace {

using cfg::Condition;
using cfg::MergeKind;
using cfg::StructuredBlock;
using cfg::TerminatorKind;
using ir::Builder;
using ir::Op;
using ir::Value;

using Targets = std::vector<uint32_t>;

Value is_set(Builder& b, uint32_t sgpr) { return b.compare(Op::ine, b.sgpr(sgpr), b.u32(0)); }
void store(Builder& b, uint32_t vgpr) {
  const Value at = b.add(b.sgpr(0, ir::Type::u64), b.zext(ir::Type::u64, b.shl(b.vgpr(0), b.u32(2))));
  const Value data[] = {b.vgpr(vgpr)};
  b.store({.space = ir::Space::guest}, b.exec(), at, data);
}

StructuredBlock jump(uint32_t to) { return {.terminator = TerminatorKind::jump, .targets = {to}}; }
StructuredBlock branch(Condition condition, uint32_t yes, uint32_t no, uint32_t merge) {
  StructuredBlock block{.terminator = TerminatorKind::branch, .condition = condition, .targets = {yes, no}};
  if (merge != cfg::kNoBlock) {
    block.merge = MergeKind::selection;
    block.merge_block = merge;
  }
  return block;
}

// The graph as the pass leaves it.
cfg::StructuredGraph threaded(HandProgram program) {
  const TranslateOptions o = options_for(32, 32);
  ir::Function f = function_of(program, o);
  f.graph = &program.graph;
  passes::thread_branches(f, program.graph, true);
  passes::remove_dead(f);
  const auto module = spirv::Emitter(f, o).emit();
  EXPECT_EQ(module ? validate(module->spirv) : "refused", "");
  return program.graph;
}

// if (s2) {v1 = 1; scc = `after`}, then on scc0 {v1 = v1 + 2}.
HandProgram two_ifs(std::function<Value(Builder&)> after) {
  HandProgram p;
  p.graph.blocks = {branch(Condition::scc1, 1, 2, 2), jump(2), branch(Condition::scc0, 3, 4, 4), jump(4), {}};
  p.blocks = {[](Builder& b) {
                b.set_vgpr(1, b.vgpr(0));
                b.set_scc(is_set(b, 2));
              },
              [after](Builder& b) {
                b.set_vgpr(1, b.u32(1));
                b.set_scc(after(b));
              },
              [](Builder&) {}, [](Builder& b) { b.set_vgpr(1, b.add(b.vgpr(1), b.u32(2))); },
              [](Builder& b) { store(b, 1); }};
  return p;
}

TEST(ThreadBranches, an_if_and_its_opposite_are_the_two_arms_of_one) {
  const auto graph = threaded(two_ifs([](Builder& b) { return b.b1(true); }));
  EXPECT_EQ(graph.blocks[0].targets, (Targets{1, 3}));
  EXPECT_EQ(graph.blocks[0].merge_block, 4u);
  EXPECT_EQ(graph.blocks[1].targets, Targets{4});
  EXPECT_EQ(graph.blocks[3].targets, Targets{4});
  EXPECT_TRUE(graph.blocks[2].targets.empty());
}

TEST(ThreadBranches, an_outcome_that_is_not_known_is_asked_for) {
  const auto graph = threaded(two_ifs([](Builder& b) { return is_set(b, 3); }));
  EXPECT_EQ(graph.blocks[0].targets, (Targets{1, 2}));
  EXPECT_EQ(graph.blocks[2].targets, (Targets{3, 4}));
}

// loop {scc = s4 counted down to 0; if (!scc) {v1 = v1 + s3; scc = `leaves`}; if (scc) break}
HandProgram counting(std::function<Value(Builder&)> leaves) {
  HandProgram p;
  p.graph.blocks = {jump(1),
                    {.terminator = TerminatorKind::jump,
                     .targets = {2},
                     .merge = MergeKind::loop,
                     .merge_block = 6,
                     .continue_block = 5},
                    branch(Condition::scc1, 4, 3, 4),
                    jump(4),
                    branch(Condition::scc1, 6, 5, cfg::kNoBlock),
                    jump(1),
                    {}};
  const auto nothing = [](Builder&) {};
  p.blocks = {[](Builder& b) { b.set_vgpr(1, b.vgpr(0)); },
              nothing,
              [](Builder& b) {
                b.set_sgpr(4, b.add(b.sgpr(4), b.u32(~0u)));
                b.set_scc(b.compare(Op::ieq, b.sgpr(4), b.u32(0)));
              },
              [leaves](Builder& b) {
                b.set_vgpr(1, b.add(b.vgpr(1), b.sgpr(3)));
                b.set_scc(leaves(b));
              },
              nothing,
              nothing,
              [](Builder& b) { store(b, 1); }};
  return p;
}

TEST(ThreadBranches, who_is_to_leave_a_loop_leaves_at_once) {
  const auto graph = threaded(counting([](Builder& b) { return b.compare(Op::ieq, b.sgpr(4), b.sgpr(5)); }));
  EXPECT_EQ(graph.blocks[2].targets, (Targets{6, 3}));
  EXPECT_EQ(graph.blocks[2].merge_block, 3u);
  EXPECT_EQ(graph.blocks[4].targets, (Targets{6, 5}));
}

TEST(ThreadBranches, a_loop_that_goes_on_behind_the_join_stays) {
  HandProgram program = counting([](Builder& b) { return is_set(b, 5); });
  program.graph.blocks[4].condition = Condition::scc0;
  EXPECT_EQ(threaded(std::move(program)).blocks[2].targets, (Targets{4, 3}));
}

}  // namespace
}  // namespace orrery::shader::test
