// Loads side by side, and with one lane an invocation accesses of the same lanes under one branch. Each program is also
// a valid module.
#include <gtest/gtest.h>
#include <algorithm>

#include "tests/gpu-service/shader/spirv/hand_program.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::shader::test {
namespace {

using ir::Builder;
using ir::Op;
using ir::Type;
using ir::Value;

constexpr ir::Access kOne{.space = ir::Space::guest};
constexpr ir::Access kTwo{.space = ir::Space::guest, .components = 2};

Value address(Builder& b, uint32_t pointer, Value index) {
  return b.add(b.sgpr(pointer, Type::u64), b.zext(Type::u64, b.shl(index, b.u32(3))));
}
Value own_address(Builder& b, uint32_t pointer) { return address(b, pointer, b.vgpr(0)); }
void store(Builder& b, Value lanes, uint32_t pointer, Value v) {
  const Value data[] = {v};
  b.store(kOne, lanes, own_address(b, pointer), data);
}
Value odd_lanes(Builder& b) { return b.compare(Op::ine, b.land(b.vgpr(0), b.u32(1)), b.u32(0)); }
Value lanes_below(Builder& b, uint32_t n) { return b.compare(Op::ult, b.vgpr(0), b.u32(n)); }

// The accesses and branches of the only block, as they follow each other.
std::vector<Op> order(const HandProgram& program, uint32_t subgroup = 32) {
  const TranslateOptions o = options_for(32, subgroup);
  EXPECT_EQ(validate(module_of(program, o).spirv), "");
  const ir::Function f = function_of(program, o);
  std::vector<Op> out;
  for (const uint32_t id : f.blocks[0].body) {
    const Op op = f.insts[id].op;
    const bool shown = op == Op::load || op == Op::store || op == Op::lane_if || op == Op::lane_endif;
    if (shown) out.push_back(op);
  }
  return out;
}
using Ops = std::vector<Op>;

TEST(GatherAccesses, loads_stand_in_front_of_what_is_made_of_the_first) {
  const HandProgram program = straight([](Builder& b) {
    const Value x = b.load(kOne, b.exec(), own_address(b, 0))[0];
    const Value more = b.add(x, b.u32(3));
    const Value y = b.load(kOne, b.exec(), own_address(b, 2))[0];
    store(b, b.exec(), 4, b.add(more, y));
  });
  const ir::Function f = function_of(program, options_for(32, 16));
  const auto& body = f.blocks[0].body;
  const auto first = std::ranges::find(body, Op::load, [&](uint32_t id) { return f.insts[id].op; });
  ASSERT_NE(first, body.end());
  EXPECT_EQ(f.insts[first[1]].op, Op::load);
}

TEST(GatherAccesses, a_load_from_a_loaded_place_waits_for_it) {
  const HandProgram program = straight([](Builder& b) {
    const Value x = b.load(kOne, b.exec(), own_address(b, 0))[0];
    const Value y = b.load(kOne, b.exec(), address(b, 2, x))[0];
    store(b, b.exec(), 4, y);
  });
  const ir::Function f = function_of(program, options_for(32, 16));
  std::vector<uint32_t> loads;
  for (const uint32_t id : f.blocks[0].body)
    if (f.insts[id].op == Op::load) loads.push_back(id);
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_EQ(f.args(f.insts[loads[1]]).size(), 2u);
  EXPECT_EQ(f.at(f.args(f.insts[loads[0]])[1]).op, Op::iadd);
}

TEST(GatherAccesses, accesses_of_the_same_lanes_share_a_branch_where_an_invocation_is_one_lane) {
  const HandProgram program = straight([](Builder& b) {
    const Value lanes = odd_lanes(b);
    store(b, lanes, 4, b.load(kOne, lanes, own_address(b, 0))[0]);
  });
  EXPECT_EQ(order(program), (Ops{Op::lane_if, Op::load, Op::store, Op::lane_endif}));
  EXPECT_EQ(order(program, 16), (Ops{Op::load, Op::store}));
}

TEST(GatherAccesses, accesses_of_other_lanes_have_branches_of_their_own) {
  EXPECT_EQ(order(straight([](Builder& b) {
              const Value x = b.load(kOne, odd_lanes(b), own_address(b, 0))[0];
              store(b, lanes_below(b, 7), 4, x);
            })),
            (Ops{Op::load, Op::store}));
}

// Two loads of the same lanes, the second of two dwords, then one of all lanes. What the second load gives stands
// behind the third, and is joined with 0 all the same.
TEST(GatherAccesses, components_that_stand_behind_an_access_of_other_lanes_are_joined) {
  EXPECT_EQ(order(straight([](Builder& b) {
              const Value lanes = odd_lanes(b);
              const Value x = b.load(kOne, lanes, own_address(b, 0))[0];
              const auto y = b.load(kTwo, lanes, address(b, 2, x));
              const Value z = b.load(kOne, b.b1(true), own_address(b, 4))[0];
              store(b, b.b1(true), 6, b.add(b.add(x, z), b.add(y[0], y[1])));
            })),
            (Ops{Op::lane_if, Op::load, Op::load, Op::lane_endif, Op::load, Op::store}));
}

TEST(GatherAccesses, what_later_accesses_need_is_made_inside_and_once_more_behind) {
  const HandProgram program = straight([](Builder& b) {
    const Value lanes = odd_lanes(b);
    const Value x = b.load(kOne, lanes, own_address(b, 0))[0];
    const Value place = b.lxor(x, b.u32(5));
    const Value y = b.load(kOne, lanes, address(b, 2, place))[0];
    store(b, b.b1(true), 4, b.add(place, y));
  });
  EXPECT_EQ(order(program), (Ops{Op::lane_if, Op::load, Op::load, Op::lane_endif, Op::store}));
  EXPECT_EQ(count_of(function_of(program, options_for(32, 32)), Op::ixor), 2u);
}

}  // namespace
}  // namespace orrery::shader::test
