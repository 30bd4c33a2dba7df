// Float arithmetic per lane: add, multiply, fused multiply-add, minimum, maximum, rounding to integers.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/float_shape.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

template <Type kType>
Outcome fused(Builder& b, const Instruction& i) {
  result(b, i, b.op(Op::ffma, source(b, i, 0, kType), source(b, i, 1, kType), source(b, i, 2, kType)));
  return {};
}

// source 0 * source 1 + destination.
template <Type kType>
Outcome fused_accumulate(Builder& b, const Instruction& i) {
  if (i.op_select != 0) return refuse("op_sel of an accumulating instruction");
  result(b, i, b.op(Op::ffma, source(b, i, 0, kType), source(b, i, 1, kType), b.vgpr(i.destination.index, kType)));
  return {};
}

// v_fmamk: source 0 * K + source 1, in the order LLVM prints them: source 0, K, source 1.
template <Type kType, bool kFused>
Outcome multiply_add(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kType), y = source(b, i, 1, kType), z = source(b, i, 2, kType);
  result(b, i, kFused ? b.op(Op::ffma, x, y, z) : b.op(Op::fadd, b.op(Op::fmul, x, y), z));
  return {};
}

Outcome multiply_accumulate(Builder& b, const Instruction& i) {
  const Value product = b.op(Op::fmul, source(b, i, 0, Type::f32), source(b, i, 1, Type::f32));
  result(b, i, b.op(Op::fadd, product, b.vgpr(i.destination.index, Type::f32)));
  return {};
}

Value either_zero(Builder& b, Value x, Value y) {
  const Value zero = b.constant(b.type(x), 0);
  return b.lor(b.compare(Op::feq, x, zero), b.compare(Op::feq, y, zero));
}

// Zero times anything is zero.
Outcome multiply_legacy(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, Type::f32), y = source(b, i, 1, Type::f32);
  result(b, i, b.select(either_zero(b, x, y), b.f32(0), b.op(Op::fmul, x, y)));
  return {};
}

template <bool kFused, bool kAccumulate>
Outcome multiply_add_legacy(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, Type::f32), y = source(b, i, 1, Type::f32);
  const Value z = kAccumulate ? b.vgpr(i.destination.index, Type::f32) : source(b, i, 2, Type::f32);
  const Value whole = kFused ? b.op(Op::ffma, x, y, z) : b.op(Op::fadd, b.op(Op::fmul, x, y), z);
  // 0 + z; drivers fold the sum to z, which differs for -0.
  const Value without = b.select(b.compare(Op::feq, z, b.f32(0)), b.f32(0), z);
  result(b, i, b.select(either_zero(b, x, y), without, whole));
  return {};
}

template <Type kType>
Outcome subtract_reversed(Builder& b, const Instruction& i) {
  result(b, i, b.op(Op::fsub, source(b, i, 1, kType), source(b, i, 0, kType)));
  return {};
}

template <Type kType>
Outcome minimum(Builder& b, const Instruction& i) {
  result(b, i, float_min(b, source(b, i, 0, kType), source(b, i, 1, kType)));
  return {};
}
template <Type kType>
Outcome maximum(Builder& b, const Instruction& i) {
  result(b, i, float_max(b, source(b, i, 0, kType), source(b, i, 1, kType)));
  return {};
}
template <Type kType>
Outcome minimum_of_three(Builder& b, const Instruction& i) {
  result(b, i, float_min(b, float_min(b, source(b, i, 0, kType), source(b, i, 1, kType)), source(b, i, 2, kType)));
  return {};
}
template <Type kType>
Outcome maximum_of_three(Builder& b, const Instruction& i) {
  result(b, i, float_max(b, float_max(b, source(b, i, 0, kType), source(b, i, 1, kType)), source(b, i, 2, kType)));
  return {};
}

// Where an operand is NaN: the minimum of the others.
template <Type kType>
Outcome median(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kType), y = source(b, i, 1, kType), z = source(b, i, 2, kType);
  const Value middle = float_max(b, float_min(b, x, y), float_min(b, float_max(b, x, y), z));
  const Value least = float_min(b, float_min(b, x, y), z);
  result(b, i, b.select(b.lor(is_nan(b, x), b.lor(is_nan(b, y), is_nan(b, z))), least, middle));
  return {};
}

template <Type kType>
void add_type(SemanticTable& t, std::initializer_list<Opcode> names) {
  constexpr ir::Semantic kSemantics[] = {
      binary<Op::fadd, kType>,  binary<Op::fmul, kType>, minimum<kType>,          maximum<kType>,          fused<kType>,
      unary<Op::ftrunc, kType>, unary<Op::fceil, kType>, unary<Op::frint, kType>, unary<Op::ffloor, kType>};
  size_t n = 0;
  for (Opcode name : names) set(t, name, kSemantics[n++]);
}

}  // namespace

void add_vector_float(SemanticTable& t) {
  add_type<Type::f32>(t, {Opcode::v_add_f32, Opcode::v_mul_f32, Opcode::v_min_f32, Opcode::v_max_f32, Opcode::v_fma_f32,
                          Opcode::v_trunc_f32, Opcode::v_ceil_f32, Opcode::v_rndne_f32, Opcode::v_floor_f32});
  add_type<Type::f64>(t, {Opcode::v_add_f64, Opcode::v_mul_f64, Opcode::v_min_f64, Opcode::v_max_f64, Opcode::v_fma_f64,
                          Opcode::v_trunc_f64, Opcode::v_ceil_f64, Opcode::v_rndne_f64, Opcode::v_floor_f64});
  add_type<Type::f16>(t, {Opcode::v_add_f16, Opcode::v_mul_f16, Opcode::v_min_f16, Opcode::v_max_f16, Opcode::v_fma_f16,
                          Opcode::v_trunc_f16, Opcode::v_ceil_f16, Opcode::v_rndne_f16, Opcode::v_floor_f16});
  set(t, Opcode::v_sub_f32, binary<Op::fsub, Type::f32>);
  set(t, Opcode::v_sub_f16, binary<Op::fsub, Type::f16>);
  set(t, Opcode::v_subrev_f32, subtract_reversed<Type::f32>);
  set(t, Opcode::v_subrev_f16, subtract_reversed<Type::f16>);
  set(t, Opcode::v_fmac_f32, fused_accumulate<Type::f32>);
  set(t, Opcode::v_fmac_f16, fused_accumulate<Type::f16>);
  set(t, Opcode::v_fmaak_f32, multiply_add<Type::f32, true>);
  set(t, Opcode::v_fmamk_f32, multiply_add<Type::f32, true>);
  set(t, Opcode::v_fmaak_f16, multiply_add<Type::f16, true>);
  set(t, Opcode::v_fmamk_f16, multiply_add<Type::f16, true>);
  set(t, Opcode::v_mad_f32, multiply_add<Type::f32, false>);
  set(t, Opcode::v_madak_f32, multiply_add<Type::f32, false>);
  set(t, Opcode::v_madmk_f32, multiply_add<Type::f32, false>);
  set(t, Opcode::v_mac_f32, multiply_accumulate);
  set(t, Opcode::v_mul_legacy_f32, multiply_legacy);
  set(t, Opcode::v_mad_legacy_f32, multiply_add_legacy<false, false>);
  set(t, Opcode::v_mac_legacy_f32, multiply_add_legacy<false, true>);
  set(t, Opcode::v_fma_legacy_f32, multiply_add_legacy<true, false>);
  set(t, Opcode::v_fmac_legacy_f32, multiply_add_legacy<true, true>);
  set(t, Opcode::v_min3_f32, minimum_of_three<Type::f32>);
  set(t, Opcode::v_max3_f32, maximum_of_three<Type::f32>);
  set(t, Opcode::v_med3_f32, median<Type::f32>);
  set(t, Opcode::v_min3_f16, minimum_of_three<Type::f16>);
  set(t, Opcode::v_max3_f16, maximum_of_three<Type::f16>);
  set(t, Opcode::v_med3_f16, median<Type::f16>);
}

}  // namespace orrery::shader::semantics
