// Float arithmetic per lane: add, multiply, fused multiply-add, minimum, maximum, rounding to integers.
#include "gpu-service/shader/ir/rounding.hpp"
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/float_shape.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

template <Type kType>
Outcome fused(Builder& b, const Instruction& i) {
  result(b, i, ir::rounded_fma(b, source(b, i, 0, kType), source(b, i, 1, kType), source(b, i, 2, kType)));
  return {};
}

// source 0 * source 1 + destination.
template <Type kType>
Outcome fused_accumulate(Builder& b, const Instruction& i) {
  if (i.op_select != 0) return refuse("op_sel of an accumulating instruction");
  result(b, i, ir::rounded_fma(b, source(b, i, 0, kType), source(b, i, 1, kType), accumulator(b, i, kType)));
  return {};
}

// Not fused: two roundings, and no denormals whatever MODE says.
Value unfused(Builder& b, Value product, Value z) { return b.flush(ir::rounded_add(b, b.flush(product), b.flush(z))); }

Outcome multiply_add(Builder& b, const Instruction& i) {
  const Value x = b.flush(source(b, i, 0, Type::f32)), y = b.flush(source(b, i, 1, Type::f32));
  result(b, i, unfused(b, ir::rounded_mul(b, x, y), source(b, i, 2, Type::f32)));
  return {};
}

Outcome multiply_accumulate(Builder& b, const Instruction& i) {
  const Value x = b.flush(source(b, i, 0, Type::f32)), y = b.flush(source(b, i, 1, Type::f32));
  result(b, i, unfused(b, ir::rounded_mul(b, x, y), accumulator(b, i, Type::f32)));
  return {};
}

Value either_zero(Builder& b, Value x, Value y) {
  for (const Value v : {x, y}) {
    uint64_t bits = 0;
    if (b.is_constant(v, bits) && (bits & 0x7fffffff) == 0) return b.b1(true);
  }
  const Value zero = b.constant(b.type(x), 0);
  return b.lor(b.compare(Op::feq, x, zero), b.compare(Op::feq, y, zero));
}

// Zero times anything is zero.
Value legacy_product(Builder& b, Value x, Value y) {
  return b.select(either_zero(b, x, y), b.f32(0), ir::rounded_mul(b, x, y));
}

Outcome multiply_legacy(Builder& b, const Instruction& i) {
  result(b, i, legacy_product(b, source(b, i, 0, Type::f32), source(b, i, 1, Type::f32)));
  return {};
}

// Of the lighting model: the lowest number unless both factors can be used.
Outcome multiply_lit(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, Type::f32), y = source(b, i, 1, Type::f32), z = source(b, i, 2, Type::f32);
  const Value lowest = b.constant(Type::f32, 0xff7fffff);
  // NaN compares false.
  const Value usable = b.land(b.compare(Op::flt, lowest, y), b.compare(Op::flt, b.f32(0), z));
  result(b, i, b.select(usable, legacy_product(b, x, y), lowest));
  return {};
}

template <bool kFused, bool kAccumulate>
Outcome multiply_add_legacy(Builder& b, const Instruction& i) {
  Value x = source(b, i, 0, Type::f32), y = source(b, i, 1, Type::f32);
  Value z = kAccumulate ? accumulator(b, i, Type::f32) : source(b, i, 2, Type::f32);
  if (!kFused) {
    result(b, i, unfused(b, legacy_product(b, b.flush(x), b.flush(y)), z));
    return {};
  }
  // 0 + z; drivers fold the sum to z, which differs for -0. Rounding down the sum of +0 and -0 is -0.
  const Value zero = b.constant(Type::f32, b.mode().round(Type::f32) == ir::Round::down ? 0x80000000 : 0);
  const Value minus = b.compare(Op::ieq, b.as(Type::u32, z), b.u32(0x80000000));
  const Value without = b.select(minus, zero, z);
  result(b, i, b.select(either_zero(b, x, y), without, ir::rounded_fma(b, x, y, z)));
  return {};
}

template <Type kType>
Outcome subtract_reversed(Builder& b, const Instruction& i) {
  result(b, i, ir::rounded_sub(b, source(b, i, 1, kType), source(b, i, 0, kType)));
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
  constexpr ir::Semantic kSemantics[] = {made_of_two<ir::rounded_add, kType>,
                                         made_of_two<ir::rounded_mul, kType>,
                                         minimum<kType>,
                                         maximum<kType>,
                                         fused<kType>,
                                         unary<Op::ftrunc, kType>,
                                         unary<Op::fceil, kType>,
                                         unary<Op::frint, kType>,
                                         unary<Op::ffloor, kType>};
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
  set(t, Opcode::v_sub_f32, made_of_two<ir::rounded_sub, Type::f32>);
  set(t, Opcode::v_sub_f16, made_of_two<ir::rounded_sub, Type::f16>);
  set(t, Opcode::v_subrev_f32, subtract_reversed<Type::f32>);
  set(t, Opcode::v_subrev_f16, subtract_reversed<Type::f16>);
  set(t, Opcode::v_fmac_f32, fused_accumulate<Type::f32>);
  set(t, Opcode::v_fmac_f16, fused_accumulate<Type::f16>);
  set(t, Opcode::v_fmaak_f32, fused<Type::f32>);
  set(t, Opcode::v_fmamk_f32, fused<Type::f32>);
  set(t, Opcode::v_fmaak_f16, fused<Type::f16>);
  set(t, Opcode::v_fmamk_f16, fused<Type::f16>);
  set(t, Opcode::v_mad_f32, multiply_add);
  set(t, Opcode::v_madak_f32, multiply_add);
  set(t, Opcode::v_madmk_f32, multiply_add);
  set(t, Opcode::v_mac_f32, multiply_accumulate);
  set(t, Opcode::v_mul_legacy_f32, multiply_legacy);
  set(t, Opcode::v_mullit_f32, multiply_lit);
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
