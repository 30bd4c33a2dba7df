#include <gtest/gtest.h>

#include "tests/gpu-service/shader/spirv/hand_program.hpp"

namespace orrery::shader::test {
namespace {

using ir::Builder;
using ir::Op;
using ir::Space;
using ir::Type;
using ir::Value;

Value address_of(Builder& b, Space space) {
  const Value offset = b.shl(b.vgpr(0), b.u32(2));
  return space == Space::guest ? b.add(b.sgpr(0, Type::u64), b.zext(Type::u64, offset)) : offset;
}
void store(Builder& b, Space space) {
  const Value data[] = {b.vgpr(1)};
  b.store({.space = space}, b.exec(), address_of(b, space), data);
}
void load(Builder& b, Space space) { b.set_vgpr(1, b.load({.space = space}, b.exec(), address_of(b, space))[0]); }
void wait(Builder& b) { b.effect(Op::wave_wait, 1); }
void nothing(Builder&) {}

uint32_t fences(const HandProgram& program) {
  TranslateOptions o = options_for(32, 32);
  o.scratch_dwords = 64;
  return count_of(function_of(program, o), Op::wave_fence);
}
// The block that holds the only fence.
uint32_t fenced_block(const HandProgram& program) {
  const ir::Function f = function_of(program, options_for(32, 32));
  EXPECT_EQ(count_of(f, Op::wave_fence), 1u);
  for (uint32_t n = 0; n < f.blocks.size(); ++n)
    for (const uint32_t id : f.blocks[n].body)
      if (f.insts[id].op == Op::wave_fence) return n;
  return ~0u;
}

TEST(FenceAccesses, what_a_lane_stored_before_a_wait_another_may_load_behind_it) {
  EXPECT_EQ(fences(straight([](Builder& b) {
              store(b, Space::guest);
              wait(b);
              load(b, Space::guest);
              store(b, Space::guest);
            })),
            1u);
}

// The scalar unit's stores are waited for as LDS is (lgkmcnt).
TEST(FenceAccesses, what_the_scalar_unit_stored_is_seen_behind_its_own_wait) {
  const auto program = [](bool scalar) {
    return straight([scalar](Builder& b) {
      const Value data[] = {b.sgpr(2)};
      b.store({.scalar = scalar}, b.compare(Op::ieq, b.lane_id(), b.u32(0)), b.sgpr(0, Type::u64), data);
      b.effect(Op::wave_wait, 2);
      load(b, Space::guest);
      b.effect(Op::wave_wait, 1);
      store(b, Space::guest);
    });
  };
  EXPECT_EQ(fences(program(true)), 2u);
  EXPECT_EQ(fences(program(false)), 1u);
}

TEST(FenceAccesses, without_a_wait_hardware_promises_no_order) {
  EXPECT_EQ(fences(straight([](Builder& b) {
              load(b, Space::guest);
              store(b, Space::guest);
              load(b, Space::guest);
              store(b, Space::guest);
            })),
            0u);
}

TEST(FenceAccesses, a_loaded_place_may_be_another_lanes_to_overwrite_behind_a_wait) {
  EXPECT_EQ(fences(straight([](Builder& b) {
              load(b, Space::guest);
              wait(b);
              store(b, Space::guest);
            })),
            1u);
}

TEST(FenceAccesses, lds_accesses_of_a_wave_are_in_order_without_a_wait) {
  EXPECT_EQ(fences(straight([](Builder& b) {
              store(b, Space::lds);
              load(b, Space::lds);
              store(b, Space::guest);
            })),
            1u);
}

TEST(FenceAccesses, lds_and_memory_are_not_each_other) {
  EXPECT_EQ(fences(straight([](Builder& b) {
              store(b, Space::lds);
              wait(b);
              load(b, Space::guest);
              store(b, Space::guest);
            })),
            0u);
}

void count(Builder& b, ir::AtomicOp op, bool returns) {
  b.atomic({.space = Space::lds, .atomic = op, .returns = returns}, b.exec(), address_of(b, Space::lds), b.vgpr(1));
}

TEST(FenceAccesses, atomics_that_only_add_up_need_no_order) {
  EXPECT_EQ(fences(straight([](Builder& b) {
              count(b, ir::AtomicOp::add, false);
              count(b, ir::AtomicOp::add, false);
            })),
            0u);
  EXPECT_EQ(fences(straight([](Builder& b) {
              count(b, ir::AtomicOp::add, false);
              load(b, Space::lds);
              store(b, Space::guest);
            })),
            1u);
  EXPECT_EQ(fences(straight([](Builder& b) {
              store(b, Space::lds);
              count(b, ir::AtomicOp::add, false);
            })),
            1u);
}

TEST(FenceAccesses, atomics_whose_order_shows_are_fenced) {
  EXPECT_EQ(fences(straight([](Builder& b) {
              count(b, ir::AtomicOp::add, false);
              count(b, ir::AtomicOp::iand, false);
            })),
            1u);
  EXPECT_EQ(fences(straight([](Builder& b) {
              count(b, ir::AtomicOp::add, true);
              count(b, ir::AtomicOp::add, true);
            })),
            1u);
  EXPECT_EQ(fences(straight([](Builder& b) {
              count(b, ir::AtomicOp::swap, false);
              count(b, ir::AtomicOp::swap, false);
            })),
            1u);
}

TEST(FenceAccesses, private_memory_and_a_barrier_of_the_group_need_none) {
  EXPECT_EQ(fences(straight([](Builder& b) {
              store(b, Space::scratch);
              wait(b);
              load(b, Space::scratch);
              store(b, Space::guest);
              wait(b);
              b.effect(Op::group_barrier);
              load(b, Space::guest);
              store(b, Space::guest);
            })),
            0u);
}

// A branch of one lane's bit, so that the graph is a selection.
void narrow(Builder& b) {
  b.set_mask(20, b.exec());
  b.set_mask(Builder::kExec, b.land(b.exec(), b.compare(Op::ine, b.vgpr(0), b.u32(3))));
}
void restore(Builder& b) { b.set_mask(Builder::kExec, b.mask(20)); }

TEST(FenceAccesses, at_a_join_nothing_is_taken_for_stored_that_no_way_stored) {
  EXPECT_EQ(fences(if_then(
                cfg::Condition::execnz, narrow, [](Builder& b) { load(b, Space::guest); },
                [](Builder& b) {
                  restore(b);
                  load(b, Space::guest);
                  store(b, Space::guest);
                })),
            0u);
}

TEST(FenceAccesses, what_one_arm_stored_is_fenced_behind_the_join) {
  const HandProgram program = if_then(
      cfg::Condition::execnz, narrow,
      [](Builder& b) {
        store(b, Space::guest);
        wait(b);
      },
      [](Builder& b) {
        restore(b);
        load(b, Space::guest);
        store(b, Space::guest);
      });
  EXPECT_EQ(fenced_block(program), 2u);
}

TEST(FenceAccesses, what_is_stored_in_front_of_an_if_is_fenced_once_where_it_is_loaded) {
  const HandProgram program = if_then(
      cfg::Condition::execnz,
      [](Builder& b) {
        store(b, Space::guest);
        wait(b);
        narrow(b);
      },
      [](Builder& b) {
        load(b, Space::guest);
        store(b, Space::guest);
      },
      restore);
  EXPECT_EQ(fenced_block(program), 1u);
}

TEST(FenceAccesses, a_loop_that_only_stores_its_results_has_none) {
  auto again = [](Builder& b) { b.set_scc(b.compare(Op::ult, b.read_lane(b.vgpr(1), b.u32(0)), b.u32(9))); };
  EXPECT_EQ(fences(loop(
                cfg::Condition::scc1, [](Builder& b) { b.set_vgpr(1, b.u32(0)); },
                [&](Builder& b) {
                  load(b, Space::guest);
                  again(b);
                },
                [](Builder& b) { store(b, Space::guest); })),
            0u);
}

TEST(FenceAccesses, what_one_round_of_a_loop_stored_the_next_may_load) {
  const HandProgram program = loop(
      cfg::Condition::scc1, nothing,
      [](Builder& b) {
        load(b, Space::guest);
        store(b, Space::guest);
        wait(b);
        b.set_scc(b.compare(Op::ult, b.read_lane(b.vgpr(1), b.u32(0)), b.u32(9)));
      },
      nothing);
  EXPECT_EQ(fenced_block(program), 2u);
}

}  // namespace
}  // namespace orrery::shader::test
