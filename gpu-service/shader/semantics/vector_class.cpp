// v_cmp_class: which kinds of number a float may be, as a bit mask.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/float_shape.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

// Bits of the class mask.
constexpr uint32_t kSignalingNan = 0, kQuietNan = 1, kNegativeInfinity = 2, kNegativeNormal = 3, kNegativeDenormal = 4,
                   kNegativeZero = 5, kPositiveZero = 6, kPositiveDenormal = 7, kPositiveNormal = 8,
                   kPositiveInfinity = 9;

// The number of a float's class, u32.
Value class_of(Builder& b, Value v) {
  const FloatShape shape = shape_of(b.type(v));
  const Value size = magnitude_bits(b, v), bits = b.as(shape.integer, v);
  auto integer = [&](uint64_t n) { return b.constant(shape.integer, n); };
  const Value minus = non_zero(b, b.land(bits, integer(shape.sign_bit())));
  auto by_sign = [&](uint32_t negative, uint32_t positive) {
    return b.select(minus, b.u32(negative), b.u32(positive));
  };
  Value c = by_sign(kNegativeNormal, kPositiveNormal);
  c = b.select(b.compare(Op::ult, size, integer(shape.smallest_normal())),
               by_sign(kNegativeDenormal, kPositiveDenormal), c);
  c = b.select(b.compare(Op::ieq, size, integer(0)), by_sign(kNegativeZero, kPositiveZero), c);
  c = b.select(b.compare(Op::ieq, size, integer(shape.infinity())), by_sign(kNegativeInfinity, kPositiveInfinity), c);
  c = b.select(b.compare(Op::ult, integer(shape.infinity()), size), b.u32(kSignalingNan), c);
  return b.select(b.compare(Op::ule, integer(shape.infinity() | shape.quiet_bit()), size), b.u32(kQuietNan), c);
}

// Classes as ranges of the magnitude, one after the other; each with its bits for both signs.
Value in_constant_classes(Builder& b, Value v, uint32_t mask) {
  const FloatShape shape = shape_of(b.type(v));
  struct Range {
    uint64_t first, last;
    uint32_t negative, positive;
  };
  const Range ranges[] = {
      {0, 0, kNegativeZero, kPositiveZero},
      {1, shape.smallest_normal() - 1, kNegativeDenormal, kPositiveDenormal},
      {shape.smallest_normal(), shape.infinity() - 1, kNegativeNormal, kPositiveNormal},
      {shape.infinity(), shape.infinity(), kNegativeInfinity, kPositiveInfinity},
      {shape.infinity() + 1, (shape.infinity() | shape.quiet_bit()) - 1, kSignalingNan, kSignalingNan},
      {shape.infinity() | shape.quiet_bit(), shape.sign_bit() - 1, kQuietNan, kQuietNan},
  };
  auto integer = [&](uint64_t n) { return b.constant(shape.integer, n); };
  // Neighbouring ranges that ask for the same are one test; `where`: bits of the value the ranges lie in.
  auto ranges_in = [&](Value where, auto wanted) {
    Value any = b.b1(false);
    for (size_t n = 0; n < std::size(ranges);) {
      size_t end = n;
      while (end < std::size(ranges) && wanted(ranges[end])) ++end;
      if (end > n) {
        const uint64_t first = ranges[n].first, last = ranges[end - 1].last;
        const Value offset = first == 0 ? where : b.sub(where, integer(first));
        any = b.lor(any, b.compare(Op::ule, offset, integer(last - first)));
      }
      n = std::max(end, n + 1);
    }
    return any;
  };
  auto has = [&](uint32_t bit) { return (mask >> bit & 1) != 0; };
  const Value size = magnitude_bits(b, v), bits = b.as(shape.integer, v);
  const Value both = ranges_in(size, [&](const Range& r) { return has(r.negative) && has(r.positive); });
  const Value positive = ranges_in(bits, [&](const Range& r) { return has(r.positive) && !has(r.negative); });
  const Value flipped = b.lxor(bits, integer(shape.sign_bit()));
  const Value negative = ranges_in(flipped, [&](const Range& r) { return has(r.negative) && !has(r.positive); });
  return b.lor(both, b.lor(positive, negative));
}

template <Type kType>
Outcome compare_class(Builder& b, const Instruction& i) {
  const Value v = source(b, i, 0, kType, ir::Denormals::kept);
  Value mask = source(b, i, 1, kType == Type::f16 ? Type::u16 : Type::u32);
  if (kType == Type::f16) mask = b.zext(Type::u32, mask);
  uint64_t constant = 0;
  if (kType != Type::f16 && b.is_constant(mask, constant)) {
    result_mask(b, i, in_constant_classes(b, v, static_cast<uint32_t>(constant)));
  } else {
    result_mask(b, i, non_zero(b, b.land(b.lshr(mask, class_of(b, v)), b.u32(1))));
  }
  return {};
}

}  // namespace

void add_vector_class(SemanticTable& t) {
  set(t, Opcode::v_cmp_class_f16, compare_class<Type::f16>);
  set(t, Opcode::v_cmp_class_f32, compare_class<Type::f32>);
  set(t, Opcode::v_cmp_class_f64, compare_class<Type::f64>);
  set(t, Opcode::v_cmpx_class_f16, compare_class<Type::f16>);
  set(t, Opcode::v_cmpx_class_f32, compare_class<Type::f32>);
  set(t, Opcode::v_cmpx_class_f64, compare_class<Type::f64>);
}

}  // namespace orrery::shader::semantics
