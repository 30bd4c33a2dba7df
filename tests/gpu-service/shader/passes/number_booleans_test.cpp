// Equal and opposite conditions.
#include <gtest/gtest.h>

#include "gpu-service/shader/ir/construct.hpp"
#include "gpu-service/shader/passes/passes.hpp"
#include "tests/gpu-service/shader/spirv/hand_program.hpp"

namespace orrery::shader::test {
namespace {

using ir::Builder;
using ir::Op;
using ir::Type;
using ir::Value;

void store(Builder& b, Value v) {
  const Value data[] = {v};
  b.store({.space = ir::Space::guest}, b.exec(), b.sgpr(0, Type::u64), data);
}
void store(Builder& b, Value condition, uint32_t number) { store(b, b.select(condition, b.u32(number), b.vgpr(0))); }

// Behind the pass alone.
struct Numbered {
  bool changed;
  ir::Function f;
};
Numbered numbered(const HandProgram& program) {
  ir::Function f;
  f.graph = &program.graph;
  const Program nothing;
  ir::construct(f, nothing, options_for(32, 32), [&](Builder& b, uint32_t n) {
    program.blocks[n](b);
    return true;
  });
  const bool changed = passes::number_booleans(f);
  return {changed, std::move(f)};
}

Value less(Builder& b) { return b.compare(Op::ult, b.vgpr(0), b.u32(9)); }
Value not_less(Builder& b) { return b.compare(Op::ule, b.u32(9), b.vgpr(0)); }

TEST(NumberBooleans, a_compare_behind_an_equal_one_is_that_one) {
  const auto [changed, f] = numbered(if_then(
      cfg::Condition::scc1,
      [](Builder& b) {
        b.set_scc(b.compare(Op::ine, b.sgpr(2), b.u32(0)));
        store(b, less(b), 1);
      },
      [](Builder& b) { store(b, less(b), 2); }, [](Builder& b) { store(b, less(b), 3); }));
  EXPECT_TRUE(changed);
  EXPECT_EQ(count_of(f, Op::ult), 1u);
}

TEST(NumberBooleans, compares_of_two_arms_stay_where_neither_stands_in_front) {
  HandProgram p;
  using cfg::StructuredBlock, cfg::TerminatorKind;
  p.graph.blocks = {StructuredBlock{.terminator = TerminatorKind::branch,
                                    .condition = cfg::Condition::scc1,
                                    .targets = {1, 2},
                                    .merge = cfg::MergeKind::selection,
                                    .merge_block = 3},
                    StructuredBlock{.terminator = TerminatorKind::jump, .targets = {3}},
                    StructuredBlock{.terminator = TerminatorKind::jump, .targets = {3}}, StructuredBlock{}};
  p.blocks = {[](Builder& b) { b.set_scc(b.compare(Op::ine, b.sgpr(2), b.u32(0))); },
              [](Builder& b) { store(b, less(b), 1); }, [](Builder& b) { store(b, less(b), 2); }, [](Builder&) {}};
  const auto [changed, f] = numbered(p);
  EXPECT_FALSE(changed);
  EXPECT_EQ(count_of(f, Op::ult), 2u);
}

TEST(NumberBooleans, an_inverse_compare_is_the_others_opposite) {
  const auto [changed, f] = numbered(straight([](Builder& b) {
    store(b, less(b), 1);
    store(b, not_less(b), 2);
  }));
  EXPECT_TRUE(changed);
  EXPECT_EQ(count_of(f, Op::ult), 1u);
  EXPECT_EQ(count_of(f, Op::ule), 0u);
  EXPECT_EQ(count_of(f, Op::inot), 1u);
}

// A NaN is neither less nor not less.
TEST(NumberBooleans, ordered_compares_of_floats_are_no_opposites) {
  const auto [changed, f] = numbered(straight([](Builder& b) {
    const Value x = b.as(Type::f32, b.vgpr(0)), y = b.f32(9);
    store(b, b.compare(Op::flt, x, y), 1);
    store(b, b.compare(Op::fle, y, x), 2);
  }));
  EXPECT_FALSE(changed);
  EXPECT_EQ(count_of(f, Op::inot), 0u);
}

}  // namespace
}  // namespace orrery::shader::test
