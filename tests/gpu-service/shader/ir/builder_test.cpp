#include <gtest/gtest.h>

#include <optional>

#include "tests/gpu-service/shader/spirv/hand_program.hpp"

namespace orrery::shader::test {
namespace {

using ir::Builder;
using ir::Op;
using ir::Type;
using ir::Value;

constexpr ir::Access kGuest{.space = ir::Space::guest};

void store(Builder& b, Value v) {
  const Value data[] = {v};
  b.store(kGuest, b.exec(), b.add(b.sgpr(0, Type::u64), b.zext(Type::u64, b.shl(b.vgpr(0), b.u32(2)))), data);
}

Value odd_lanes(Builder& b) { return b.compare(Op::ine, b.land(b.vgpr(0), b.u32(1)), b.u32(0)); }

// exec = exec and mask, the old exec in s20; and back.
void narrow(Builder& b, Value mask) {
  const Value saved = b.exec();
  b.set_mask(20, saved, b.sgpr(Builder::kExec, b.wave64() ? Type::u64 : Type::u32));
  b.set_mask(Builder::kExec, b.land(saved, mask));
}
void restore(Builder& b) { b.set_mask(Builder::kExec, b.lor(b.exec(), b.mask(20))); }

TEST(Builder, a_write_under_full_exec_needs_no_select) {
  const auto f = function_of(straight([](Builder& b) {
                               b.set_vgpr(1, b.add(b.vgpr(0), b.u32(1)));
                               store(b, b.vgpr(1));
                             }),
                             options_for(32, 32));
  EXPECT_EQ(count_of(f, Op::select), 0u);
}

TEST(Builder, adding_zero_carries_nothing) {
  function_of(straight([](Builder& b) {
                const Value x = b.sgpr(0), sum = b.add(x, b.u32(0));
                uint64_t carry = 1, kept = 0;
                EXPECT_TRUE(b.is_constant(b.compare(Op::ult, sum, x), carry));
                EXPECT_EQ(carry, 0u);
                EXPECT_TRUE(b.is_constant(b.compare(Op::sle, x, sum), kept));
                EXPECT_EQ(kept, 1u);
                store(b, b.vgpr(0));
              }),
              options_for(32, 32));
}

TEST(Builder, compares_of_constant_floats_are_known_but_those_of_denormals) {
  function_of(straight([](Builder& b) {
                const auto known = [&](Op op, Type type, uint64_t x, uint64_t y) -> std::optional<uint64_t> {
                  uint64_t out = 0;
                  if (!b.is_constant(b.compare(op, b.constant(type, x), b.constant(type, y)), out)) return std::nullopt;
                  return out;
                };
                constexpr uint64_t kThree = 0x4008000000000000, kInfinity = 0x7ff0000000000000;
                EXPECT_EQ(known(Op::flt, Type::f64, kThree, kInfinity), 1u);
                EXPECT_EQ(known(Op::fle, Type::f64, kInfinity, kThree), 0u);
                EXPECT_EQ(known(Op::fune, Type::f64, kThree, kThree), 0u);
                EXPECT_EQ(known(Op::feq, Type::f32, 0x80000000, 0), 1u);
                EXPECT_EQ(known(Op::flt, Type::f32, 0, 1), std::nullopt);
                EXPECT_EQ(known(Op::feq, Type::f32, 0x7fc00000, 0x7fc00000), std::nullopt);
                store(b, b.vgpr(0));
              }),
              options_for(32, 32));
}

TEST(Builder, a_structured_if_has_no_ballot_and_one_select_per_value_that_leaves_it_or_none) {
  for (const uint32_t wave : {32u, 64u}) {
    const auto f = function_of(if_then(
                                   cfg::Condition::execnz,
                                   [](Builder& b) {
                                     b.set_vgpr(1, b.u32(7));
                                     narrow(b, odd_lanes(b));
                                   },
                                   [](Builder& b) {
                                     b.set_vgpr(2, b.add(b.vgpr(0), b.u32(5)));
                                     b.set_vgpr(1, b.op(Op::imul, b.vgpr(2), b.vgpr(2)));
                                   },
                                   [](Builder& b) {
                                     restore(b);
                                     store(b, b.vgpr(1));
                                   }),
                               options_for(wave, 32));
    // With one lane an invocation its own bit decides.
    const bool alone = wave == 32;
    EXPECT_EQ(count_of(f, Op::ballot), 0u);
    EXPECT_EQ(count_of(f, Op::any), alone ? 0u : 1u);
    EXPECT_EQ(count_of(f, Op::select), alone ? 0u : 1u);
    EXPECT_EQ(count_of(f, Op::phi), 1u);
  }
}

TEST(Builder, a_value_that_no_arm_writes_passes_a_join_without_a_phi_being_made) {
  const auto f = function_of(if_then(
                                 cfg::Condition::execnz,
                                 [](Builder& b) {
                                   b.set_vgpr(1, b.u32(7));
                                   b.set_vgpr(2, b.add(b.vgpr(0), b.u32(5)));
                                   narrow(b, odd_lanes(b));
                                 },
                                 [](Builder& b) { b.set_vgpr(1, b.u32(9)); },
                                 [](Builder& b) {
                                   restore(b);
                                   store(b, b.add(b.vgpr(1), b.vgpr(2)));
                                 }),
                             options_for(32, 32));
  EXPECT_EQ(count_of(f, Op::phi), 1u);
  uint32_t made = 0;
  for (const ir::Inst& inst : f.insts) made += inst.op == Op::phi || (inst.op == Op::copy && inst.count == 1);
  // v1's, and that of exec, which turns out to be one value.
  EXPECT_LE(made, 3u);
}

// Nothing is known of a hand-made loop's writes before it is written: what it does write makes construction begin
// again.
TEST(Builder, a_register_that_a_loop_does_not_write_is_seen_through_its_header) {
  uint32_t seen = 0;
  const auto f = function_of(loop(
                                 cfg::Condition::scc1, [](Builder& b) { b.set_vgpr(1, b.u32(0)); },
                                 [&](Builder& b) {
                                   const ir::Inst& word = b.function().at(b.sgpr(4));
                                   seen += word.op == Op::user_data && word.imm == 4;
                                   b.set_vgpr(1, b.add(b.vgpr(1), b.sgpr(4)));
                                   b.set_scc(b.compare(Op::ult, b.read_lane(b.vgpr(1), b.u32(0)), b.u32(9)));
                                 },
                                 [](Builder& b) { store(b, b.vgpr(1)); }),
                             options_for(32, 32));
  EXPECT_EQ(seen, 2u);
  EXPECT_EQ(count_of(f, Op::phi), 1u);
}

TEST(Builder, a_register_that_a_loop_writes_unforeseen_is_a_phi_in_the_end) {
  const auto f = function_of(loop(
                                 cfg::Condition::scc1, [](Builder&) {},
                                 [&](Builder& b) {
                                   const Value next = b.add(b.sgpr(4), b.u32(1));
                                   b.set_sgpr(4, next);
                                   b.set_scc(b.compare(Op::ult, next, b.u32(9)));
                                 },
                                 [](Builder& b) { store(b, b.sgpr(4)); }),
                             options_for(32, 32));
  EXPECT_EQ(count_of(f, Op::phi), 1u);
}

TEST(Builder, a_mask_read_as_a_number_is_a_ballot_per_word) {
  for (const uint32_t wave : {32u, 64u}) {
    const auto f = function_of(straight([](Builder& b) {
                                 b.set_mask(10, odd_lanes(b));
                                 Value bits = b.op(Op::bit_count, b.sgpr(10));
                                 if (b.wave64()) bits = b.add(bits, b.op(Op::bit_count, b.sgpr(11)));
                                 store(b, bits);
                               }),
                               options_for(wave, 32));
    EXPECT_EQ(count_of(f, Op::ballot), wave / 32);
  }
}

TEST(Builder, a_number_written_to_half_of_a_pair_changes_the_pairs_mask) {
  const auto f = function_of(straight([](Builder& b) {
                               b.set_mask(10, odd_lanes(b));
                               b.set_sgpr(11, b.u32(0));
                               store(b, b.select(b.mask(10), b.u32(1), b.u32(2)));
                             }),
                             options_for(64, 32));
  EXPECT_EQ(count_of(f, Op::lane_bit), 1u);
  EXPECT_EQ(count_of(f, Op::ballot), 1u);
}

TEST(Builder, scc_of_masks_is_a_vote_and_scc_of_numbers_a_compare) {
  auto with = [](bool mask) {
    return function_of(if_then(
                           cfg::Condition::scc1,
                           [mask](Builder& b) {
                             if (mask)
                               b.set_mask(10, odd_lanes(b));
                             else
                               b.set_sgpr(10, b.add(b.sgpr(2), b.u32(1)));
                             const Value boolean = b.land(b.mask(10), b.mask(6)),
                                         number = b.land(b.sgpr(10), b.sgpr(6));
                             b.set_mask(14, boolean, number);
                             b.set_scc(b.mask_nonzero(boolean, number));
                           },
                           [](Builder& b) { store(b, b.u32(1)); }, [](Builder&) {}),
                       options_for(32, 32));
  };
  EXPECT_EQ(count_of(with(true), Op::any), 1u);
  EXPECT_EQ(count_of(with(false), Op::any), 0u);
  EXPECT_EQ(count_of(with(false), Op::mask_nonzero), 1u);
}

TEST(Builder, a_loop_variable_that_does_not_change_is_no_phi) {
  const auto f = function_of(loop(
                                 cfg::Condition::scc1, [](Builder& b) { b.set_sgpr(30, b.u32(0)); },
                                 [](Builder& b) {
                                   store(b, b.add(b.vgpr(0), b.sgpr(3)));
                                   b.set_sgpr(30, b.add(b.sgpr(30), b.u32(1)));
                                   b.set_scc(b.compare(Op::ult, b.sgpr(30), b.sgpr(4)));
                                 },
                                 [](Builder&) {}),
                             options_for(32, 32));
  EXPECT_EQ(count_of(f, Op::phi), 1u);
}

TEST(Builder, floats_stay_floats_between_registers) {
  const auto f = function_of(straight([](Builder& b) {
                               b.set_vgpr(1, b.op(Op::fadd, b.sgpr(2, Type::f32), b.f32(1)));
                               b.set_vgpr(2, b.op(Op::fmul, b.vgpr(1, Type::f32), b.vgpr(1, Type::f32)));
                               store(b, b.vgpr(2));
                             }),
                             options_for(32, 32));
  EXPECT_EQ(count_of(f, Op::bitcast), 2u);  // the argument, and the stored word
}

TEST(Passes, accesses_that_may_communicate_are_fenced_once) {
  auto exchange = [](bool lockstep) {
    TranslateOptions o = options_for(32, 32);
    o.host.lockstep_subgroups = lockstep;
    return function_of(straight([](Builder& b) {
                         const ir::Access lds{.space = ir::Space::lds};
                         const Value own = b.shl(b.vgpr(0), b.u32(2)), data[] = {b.vgpr(0)};
                         b.store(lds, b.exec(), own, data);
                         store(b, b.add(b.load(lds, b.exec(), b.lxor(own, b.u32(4)))[0],
                                        b.load(lds, b.exec(), b.lxor(own, b.u32(8)))[0]));
                       }),
                       o);
  };
  EXPECT_EQ(count_of(exchange(false), Op::wave_fence), 1u);
  EXPECT_EQ(count_of(exchange(true), Op::wave_fence), 0u);
}

}  // namespace
}  // namespace orrery::shader::test
