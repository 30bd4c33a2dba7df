// Constructs that each slot of an invocation goes through by itself: written once for each slot, and valid.
#include <gtest/gtest.h>
#include <spirv/unified1/spirv.hpp>

#include "tests/gpu-service/shader/spirv/hand_program.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::shader::test {
namespace {

using ir::Builder;
using ir::Op;
using ir::Type;
using ir::Value;

void store(Builder& b, uint32_t pointer, Value v) {
  const Value at = b.add(b.sgpr(pointer, Type::u64), b.zext(Type::u64, b.shl(b.vgpr(0), b.u32(2))));
  const Value data[] = {v};
  b.store({.space = ir::Space::guest}, b.exec(), at, data);
}
void narrow_to_odd(Builder& b) {
  const Value saved = b.exec();
  b.set_mask(20, saved);
  b.set_mask(Builder::kExec, b.land(saved, b.compare(Op::ine, b.land(b.vgpr(0), b.u32(1)), b.u32(0))));
}

// Each lane stores as often as its number says.
HandProgram counting_loop(std::function<void(Builder&)> before, std::function<void(Builder&)> work) {
  return loop(
      cfg::Condition::execnz,
      [before](Builder& b) {
        b.set_vgpr(1, b.u32(0));
        b.set_mask(22, b.b1(false));
        before(b);
      },
      [work](Builder& b) {
        work(b);
        b.set_vgpr(1, b.add(b.vgpr(1), b.u32(1)));
        const Value done = b.lor(b.land(b.exec(), b.compare(Op::ult, b.vgpr(0), b.vgpr(1))), b.mask(22));
        b.set_mask(22, done);
        b.set_mask(Builder::kExec, b.land(b.exec(), b.lnot(done)));
      },
      [](Builder& b) {
        b.set_mask(Builder::kExec, b.lor(b.exec(), b.mask(22)));
        store(b, 2, b.vgpr(1));
      });
}

uint32_t loops_of(const HandProgram& program, uint32_t subgroup, bool lockstep = false) {
  TranslateOptions o = options_for(32, subgroup);
  o.host.lockstep_subgroups = lockstep;
  const Module module = module_of(program, o);
  EXPECT_EQ(validate(module.spirv), "");
  uint32_t count = 0;
  for (size_t at = 5; at < module.spirv.size(); at += module.spirv[at] >> 16)
    count += (module.spirv[at] & 0xffff) == spv::OpLoopMerge;
  return count;
}

const auto nothing = [](Builder&) {};
const auto store_round = [](Builder& b) { store(b, 0, b.vgpr(1)); };

TEST(EmitApart, a_loop_that_stores_is_written_for_each_slot) {
  const HandProgram program = counting_loop(nothing, store_round);
  EXPECT_EQ(loops_of(program, 32), 1u);
  EXPECT_EQ(loops_of(program, 16), 2u);
  EXPECT_EQ(loops_of(program, 8), 4u);
}

TEST(EmitApart, a_vector_of_lanes_goes_through_together) {
  EXPECT_EQ(loops_of(counting_loop(nothing, store_round), 8, true), 1u);
}

TEST(EmitApart, slots_that_come_to_a_loop_off_go_around_their_copy) {
  EXPECT_EQ(loops_of(counting_loop(narrow_to_odd, store_round), 16), 2u);
}

TEST(EmitApart, a_loop_that_only_loads_stays_together) {
  EXPECT_EQ(loops_of(counting_loop(nothing,
                                   [](Builder& b) {
                                     const Value at = b.add(b.sgpr(0, Type::u64), b.zext(Type::u64, b.vgpr(0)));
                                     const Value loaded = b.load({.space = ir::Space::guest}, b.exec(), at)[0];
                                     b.set_vgpr(1, b.add(b.vgpr(1), loaded));
                                   }),
                     16),
            1u);
}

}  // namespace
}  // namespace orrery::shader::test
