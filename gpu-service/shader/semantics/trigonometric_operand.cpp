// v_trig_preop_f64: 53 bits of 2 / pi, from where the argument's exponent and the segment say, for exact reduction of
// large arguments of sine and cosine.
#include <array>

#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/float_shape.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr uint32_t kTwoOverPi[] = {
#include "gpu-service/shader/semantics/two_over_pi.inc"
};
constexpr uint32_t kWords = std::size(kTwoOverPi);

uint32_t word(uint32_t n) { return n < kWords ? kTwoOverPi[n] : 0; }

// The table's word at index + by; zeros behind the end.
Value table_word(Builder& b, Value index, uint32_t by) {
  std::array<Value, 64> level;
  for (uint32_t n = 0; n < 64; ++n) level[n] = b.u32(word(n + by));
  uint32_t count = 64;
  for (uint32_t bit = 1; count > 1; bit *= 2) {
    const Value odd = non_zero(b, b.land(index, b.u32(bit)));
    count /= 2;
    for (uint32_t n = 0; n < count; ++n) level[n] = b.select(odd, level[2 * n + 1], level[2 * n]);
  }
  return level[0];
}

Outcome segment(Builder& b, const Instruction& i) {
  const Value exponent = biased_exponent(b, source(b, i, 0, Type::f64, ir::Denormals::kept));
  const Value large = b.op(Op::smax, b.sub(exponent, b.u32(1077)), b.u32(0));
  const Value first = b.add(b.op(Op::imul, b.land(source(b, i, 1, Type::u32), b.u32(31)), b.u32(53)), large);
  const Value index = b.op(Op::umin, b.lshr(first, b.u32(5)), b.u32(63)), inside = b.land(first, b.u32(31));
  const Value high = b.pack64(table_word(b, index, 1), table_word(b, index, 0));
  const Value low = b.pack64(b.u32(0), table_word(b, index, 2));
  const Value count = b.zext(Type::u64, inside);
  // 64 bits from the first one on: what `low` gives goes below what `high` has left.
  const Value rest = b.lshr(b.lshr(low, b.u64(32)), b.sub(b.u64(32), count));
  const Value bits = b.lshr(b.lor(b.shl(high, count), rest), b.u64(11));
  const Value number = b.op(Op::fadd, b.op(Op::fmul, b.op(Op::u_to_f, Type::f64, {b.high32(bits)}), b.f64(0x1p32)),
                            b.op(Op::u_to_f, Type::f64, {b.low32(bits)}));
  // Arguments near the top come scaled down by 2^128.
  const Value scaled = b.compare(Op::ule, b.u32(1968), exponent);
  const Value scale = b.sub(b.select(scaled, b.u32(128 - 53), b.u32(static_cast<uint32_t>(-53))), first);
  result(b, i, scale_by_power(b, number, scale));
  return {};
}

}  // namespace

void add_trigonometric_operand(SemanticTable& t) { set(t, Opcode::v_trig_preop_f64, segment); }

}  // namespace orrery::shader::semantics
