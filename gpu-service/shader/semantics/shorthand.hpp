// Short names for the files of this folder, and the few shapes that most instructions have.
#pragma once

#include "gpu-service/shader/ir/builder.hpp"
#include "gpu-service/shader/ir/operand.hpp"
#include "gpu-service/shader/ir/semantic.hpp"

namespace orrery::shader::semantics {

using ir::bits_of;
using ir::Builder;
using ir::Op;
using ir::Outcome;
using ir::read;
using ir::refuse;
using ir::result;
using ir::SemanticTable;
using ir::set;
using ir::source;
using ir::Type;
using ir::Value;

// Scalar instructions: source n as a number, the destination written as a number.
inline Value scalar(Builder& b, const Instruction& i, uint32_t n, Type type = Type::u32, bool sign_extend = false) {
  return read(b, i.sources[n], type, sign_extend);
}
inline void scalar_result(Builder& b, const Instruction& i, Value v) { b.set_sgpr(i.destination.index, v); }

inline Value non_zero(Builder& b, Value v) { return b.compare(Op::ine, v, b.constant(b.type(v), 0)); }
inline Value negative(Builder& b, Value v) { return b.compare(Op::slt, v, b.constant(b.type(v), 0)); }
constexpr uint64_t width_mask(Type type) { return bits_of(type) == 64 ? ~0ull : (1ull << bits_of(type)) - 1; }
// All ones where the condition holds, else v.
inline Value all_ones_if(Builder& b, Value condition, Value v) {
  return b.select(condition, b.constant(b.type(v), width_mask(b.type(v))), v);
}

// A lane mask written by a VALU instruction beside its result: 0 for lanes that are off.
inline void mask_result(Builder& b, const Operand& destination, Value condition) {
  b.set_mask(destination.index, b.land(condition, b.exec()));
}

// result = op(source 0, source 1); reversed: op(source 1, source 0), the shifts' order.
template <Op kOp, Type kType>
Outcome unary(Builder& b, const Instruction& i) {
  result(b, i, b.op(kOp, source(b, i, 0, kType)));
  return {};
}
template <Op kOp, Type kType>
Outcome binary(Builder& b, const Instruction& i) {
  result(b, i, b.op(kOp, source(b, i, 0, kType), source(b, i, 1, kType)));
  return {};
}
template <Op kOp, Type kType>
Outcome reversed(Builder& b, const Instruction& i) {
  result(b, i, b.op(kOp, source(b, i, 1, kType), source(b, i, 0, kType)));
  return {};
}
// result = outer(inner(source 0, source 1), source 2).
template <Op kInner, Op kOuter, Type kType>
Outcome chained(Builder& b, const Instruction& i) {
  result(b, i, b.op(kOuter, b.op(kInner, source(b, i, 0, kType), source(b, i, 1, kType)), source(b, i, 2, kType)));
  return {};
}

template <Value (*kMake)(Builder&, Value, Value), Type kType>
Outcome made_of_two(Builder& b, const Instruction& i) {
  result(b, i, kMake(b, source(b, i, 0, kType), source(b, i, 1, kType)));
  return {};
}

// A float destination that the instruction also reads.
inline Value accumulator(Builder& b, const Instruction& i, Type type) {
  return ir::input(b, b.vgpr(i.destination.index, type));
}

// The clamp bit of integer instructions saturates. Sums of unsigned numbers that may have passed the top.
inline Value saturating_add(Builder& b, Value x, Value y, bool clamp) {
  const Value d = b.add(x, y);
  return clamp ? all_ones_if(b, b.compare(Op::ult, d, x), d) : d;
}
// A u64 cut to what 32 bits hold.
inline Value saturated_to_32(Builder& b, Value v, bool is_signed) {
  if (!is_signed) return b.op(Op::umin, v, b.u64(0xffffffff));
  return b.op(Op::smin, b.op(Op::smax, v, b.u64(0xffffffff80000000)), b.u64(0x7fffffff));
}
// A 32-bit result cut to what 16 bits hold. Of unsigned results only a difference is below 0, and it is never above.
enum class Clamp16 : uint8_t { none, of_signed, of_unsigned, of_difference };
inline Value saturated_to_16(Builder& b, Value v, Clamp16 clamp) {
  switch (clamp) {
    case Clamp16::none:
      break;
    case Clamp16::of_signed:
      return b.op(Op::smin, b.op(Op::smax, v, b.u32(0xffff8000)), b.u32(0x7fff));
    case Clamp16::of_unsigned:
      return b.op(Op::umin, v, b.u32(0xffff));
    case Clamp16::of_difference:
      return b.op(Op::smax, v, b.u32(0));
  }
  return v;
}
// The largest number of v's width, the smallest where v is negative: what a signed result saturates to.
inline Value signed_edge(Builder& b, Value v) {
  const Type type = b.type(v);
  return b.lxor(b.ashr(v, b.constant(type, bits_of(type) - 1)), b.constant(type, width_mask(type) >> 1));
}
// A signed sum d = x + y in the width of its operands.
inline Value saturating_add_signed(Builder& b, Value x, Value y, bool clamp) {
  const Value d = b.add(x, y);
  if (!clamp) return d;
  const Value overflow = negative(b, b.land(b.lxor(x, d), b.lxor(y, d))), edge = signed_edge(b, x);
  return b.select(overflow, edge, d);
}

}  // namespace orrery::shader::semantics
