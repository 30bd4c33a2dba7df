// 64-bit additions by halves.
#include <gtest/gtest.h>

#include "gpu-service/shader/passes/passes.hpp"
#include "tests/gpu-service/shader/spirv/hand_program.hpp"

namespace orrery::shader::test {
namespace {

using ir::Builder;
using ir::Op;
using ir::Type;
using ir::Value;

// Stores to an address made of two words, and says what makes it: the operation of the stored-to address.
Op address_of(std::function<Value(Builder&)> address) {
  const HandProgram program = straight([address](Builder& b) {
    const Value data[] = {b.vgpr(0)};
    b.store({.space = ir::Space::guest}, b.exec(), address(b), data);
  });
  const ir::Function f = function_of(program, options_for(32, 16));
  for (const uint32_t id : f.blocks[0].body)
    if (f.insts[id].op == Op::store) return f.at(f.args(f.insts[id])[1]).op;
  return Op::count;
}

Value carry(Builder& b, Value sum, Value of) { return b.select(b.compare(Op::ult, sum, of), b.u32(1), b.u32(0)); }

TEST(JoinWords, an_addition_with_the_carry_of_its_low_words_is_one) {
  EXPECT_EQ(address_of([](Builder& b) {
              const Value low = b.add(b.sgpr(0), b.vgpr(0));
              return b.pack64(low, b.add(b.add(b.sgpr(1), b.vgpr(1)), carry(b, low, b.vgpr(0))));
            }),
            Op::iadd);
}

TEST(JoinWords, the_carry_may_come_from_either_low_word_and_stand_anywhere) {
  EXPECT_EQ(address_of([](Builder& b) {
              const Value low = b.add(b.sgpr(0), b.vgpr(0));
              return b.pack64(low, b.add(b.sgpr(1), carry(b, low, b.sgpr(0))));
            }),
            Op::iadd);
}

TEST(JoinWords, the_carry_of_another_sum_is_not_this_ones) {
  EXPECT_EQ(address_of([](Builder& b) {
              const Value low = b.add(b.sgpr(0), b.vgpr(0)), other = b.add(b.sgpr(2), b.vgpr(0));
              return b.pack64(low, b.add(b.add(b.sgpr(1), b.vgpr(1)), carry(b, other, b.vgpr(0))));
            }),
            Op::pack64);
}

TEST(JoinWords, high_words_without_a_carry_stay_apart) {
  EXPECT_EQ(address_of([](Builder& b) { return b.pack64(b.add(b.sgpr(0), b.vgpr(0)), b.add(b.sgpr(1), b.vgpr(1))); }),
            Op::pack64);
}

}  // namespace
}  // namespace orrery::shader::test
