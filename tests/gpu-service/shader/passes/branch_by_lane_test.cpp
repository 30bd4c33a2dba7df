// Votes that turn into branches on the lane's own bit, and those that must not. Each program is also a valid module in
// the layout with one lane an invocation.
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/spirv/hand_program.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::shader::test {
namespace {

using ir::Builder;
using ir::Op;
using ir::Type;
using ir::Value;

constexpr ir::Access kGuest{.space = ir::Space::guest};

Value address(Builder& b, uint32_t pointer) {
  return b.add(b.sgpr(pointer, Type::u64), b.zext(Type::u64, b.shl(b.vgpr(0), b.u32(2))));
}
void store(Builder& b, Value v, Value lanes) {
  const Value data[] = {v};
  b.store(kGuest, lanes, address(b, 0), data);
}
void store(Builder& b, Value v) { store(b, v, b.exec()); }
Value odd_lanes(Builder& b) { return b.compare(Op::ine, b.land(b.vgpr(0), b.u32(1)), b.u32(0)); }

// s_and_saveexec s20, mask; s_or exec, exec, s20.
void narrow(Builder& b, Value mask) {
  const Value saved = b.exec();
  b.set_mask(20, saved);
  b.set_mask(Builder::kExec, b.land(saved, mask));
}
void restore(Builder& b) { b.set_mask(Builder::kExec, b.lor(b.exec(), b.mask(20))); }
void narrow_to_odd(Builder& b) { narrow(b, odd_lanes(b)); }
void restore_and_store(Builder& b) {
  restore(b);
  store(b, b.vgpr(1));
}

struct Outcome {
  uint32_t votes, selects, guards;
};
Outcome outcome(const HandProgram& program, uint32_t subgroup = 32) {
  const TranslateOptions o = options_for(32, subgroup);
  EXPECT_EQ(validate(module_of(program, o).spirv), "");
  const ir::Function f = function_of(program, o);
  return {count_of(f, Op::any), count_of(f, Op::select), count_of(f, Op::lane_if)};
}

HandProgram an_if(BlockWriter inside, BlockWriter behind = restore_and_store) {
  return if_then(
      cfg::Condition::execnz,
      [](Builder& b) {
        b.set_vgpr(1, b.u32(7));
        b.set_sgpr(12, b.u32(3));
        narrow_to_odd(b);
      },
      std::move(inside), std::move(behind));
}

TEST(BranchByLane, an_if_on_the_execution_mask_is_the_lanes_own) {
  const HandProgram program = an_if([](Builder& b) { b.set_vgpr(1, b.add(b.vgpr(0), b.u32(5))); });
  const Outcome alone = outcome(program), together = outcome(program, 16);
  EXPECT_EQ(alone.votes, 0u);
  EXPECT_EQ(alone.selects, 0u);
  // Two lanes an invocation ask for either.
  EXPECT_EQ(together.votes, 1u);
  EXPECT_EQ(together.selects, 1u);
}

TEST(BranchByLane, a_store_of_lanes_that_are_on_goes_with_them) {
  EXPECT_EQ(outcome(an_if([](Builder& b) { store(b, b.vgpr(0)); })).votes, 0u);
}

TEST(BranchByLane, what_lanes_store_that_are_off_keeps_the_vote) {
  EXPECT_EQ(outcome(an_if([](Builder& b) { store(b, b.vgpr(0), b.b1(true)); })).votes, 1u);
}

TEST(BranchByLane, a_number_made_inside_and_used_behind_keeps_the_vote) {
  const auto count = [](Builder& b) {
    b.set_vgpr(1, b.vgpr(0));
    b.set_sgpr(12, b.add(b.sgpr(12), b.u32(1)));
  };
  EXPECT_EQ(outcome(an_if(count)).votes, 0u);
  EXPECT_EQ(outcome(an_if(count,
                          [](Builder& b) {
                            restore(b);
                            store(b, b.sgpr(12));
                          }))
                .votes,
            1u);
}

TEST(BranchByLane, a_mask_read_whole_inside_keeps_the_vote) {
  EXPECT_EQ(outcome(an_if([](Builder& b) { b.set_vgpr(1, b.ballot(odd_lanes(b))); })).votes, 1u);
  EXPECT_EQ(outcome(an_if([](Builder& b) { b.set_vgpr(1, b.shuffle(b.vgpr(0), b.u32(3))); })).votes, 1u);
}

TEST(BranchByLane, a_barrier_or_a_fence_inside_keeps_the_vote) {
  EXPECT_EQ(outcome(an_if([](Builder& b) { b.effect(Op::group_barrier); })).votes, 1u);
  EXPECT_EQ(outcome(an_if([](Builder& b) {
              store(b, b.vgpr(0));
              b.effect(Op::wave_wait, 1);
              b.set_vgpr(1, b.load(kGuest, b.exec(), address(b, 2))[0]);
            })).votes,
            1u);
}

TEST(BranchByLane, registers_of_all_lanes_written_inside_keep_the_vote) {
  EXPECT_EQ(outcome(an_if([](Builder& b) { b.set_vgpr_all_lanes(1, b.add(b.vgpr(1), b.u32(1))); })).votes, 1u);
}

// s_andn2 exec, exec, s22; s_cbranch_execnz, with the lanes that are done in s22.
BlockWriter round(std::function<void(Builder&)> work) {
  return [work = std::move(work)](Builder& b) {
    b.set_vgpr(1, b.add(b.vgpr(1), b.u32(1)));
    if (work) work(b);
    const Value done = b.lor(b.land(b.exec(), b.compare(Op::ult, b.vgpr(0), b.vgpr(1))), b.mask(22));
    b.set_mask(22, done);
    b.set_mask(Builder::kExec, b.land(b.exec(), b.lnot(done)));
  };
}
HandProgram a_loop(
    BlockWriter before, std::function<void(Builder&)> work = {}, BlockWriter behind = [](Builder& b) {
      b.set_mask(Builder::kExec, b.lor(b.exec(), b.mask(22)));
      store(b, b.vgpr(1));
    }) {
  return loop(
      cfg::Condition::execnz,
      [before = std::move(before)](Builder& b) {
        b.set_vgpr(1, b.u32(0));
        b.set_sgpr(12, b.u32(0));
        b.set_mask(22, b.b1(false));
        before(b);
      },
      round(std::move(work)), std::move(behind));
}

TEST(BranchByLane, lanes_leave_a_loop_one_by_one) {
  const Outcome o = outcome(a_loop([](Builder&) {}));
  EXPECT_EQ(o.votes, 0u);
  EXPECT_EQ(o.selects, 0u);
  EXPECT_EQ(o.guards, 0u);
}

TEST(BranchByLane, a_loop_is_guarded_from_lanes_that_come_to_it_off) {
  const Outcome o = outcome(a_loop(narrow_to_odd));
  EXPECT_EQ(o.votes, 0u);
  EXPECT_EQ(o.guards, 1u);
  // One for lanes that were off: what they had.
  EXPECT_LE(o.selects, 1u);
}

TEST(BranchByLane, a_loops_count_used_behind_it_keeps_lanes_together) {
  const auto count = [](Builder& b) { b.set_sgpr(12, b.add(b.sgpr(12), b.u32(1))); };
  EXPECT_EQ(outcome(a_loop([](Builder&) {}, count)).votes, 0u);
  EXPECT_EQ(outcome(a_loop([](Builder&) {}, count,
                           [](Builder& b) {
                             b.set_mask(Builder::kExec, b.lor(b.exec(), b.mask(22)));
                             store(b, b.sgpr(12));
                           }))
                .votes,
            1u);
}

TEST(BranchByLane, a_loop_whose_rounds_talk_keeps_lanes_together) {
  EXPECT_EQ(outcome(a_loop([](Builder&) {},
                           [](Builder& b) {
                             b.set_vgpr(2, b.load(kGuest, b.exec(), address(b, 2))[0]);
                             b.effect(Op::wave_wait, 1);
                             store(b, b.vgpr(2));
                             b.effect(Op::wave_wait, 1);
                           }))
                .votes,
            1u);
}

}  // namespace
}  // namespace orrery::shader::test
