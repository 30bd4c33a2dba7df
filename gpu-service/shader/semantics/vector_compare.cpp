// Compares per lane into a mask; the v_cmpx forms write exec.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

enum class Side : uint8_t { straight, swapped };

template <Op kOp, Type kType, Side kSide = Side::straight>
Outcome compare(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kType), y = source(b, i, 1, kType);
  result_mask(b, i, kSide == Side::straight ? b.compare(kOp, x, y) : b.compare(kOp, y, x));
  return {};
}

template <bool kValue>
Outcome always(Builder& b, const Instruction& i) {
  result_mask(b, i, b.b1(kValue));
  return {};
}

// Some operand is NaN, or (kOrdered) none.
template <Type kType, bool kOrdered>
Outcome unordered(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kType), y = source(b, i, 1, kType);
  const Value nan = b.lor(b.compare(Op::fune, x, x), b.compare(Op::fune, y, y));
  result_mask(b, i, kOrdered ? b.lnot(nan) : nan);
  return {};
}

// 16-bit compares run in 32 bits.
template <Op kOp, bool kSigned, Side kSide = Side::straight>
Outcome compare_short(Builder& b, const Instruction& i) {
  auto wide = [&](uint32_t n) {
    const Value v = source(b, i, n, Type::u16);
    return kSigned ? b.sext(Type::u32, v) : b.zext(Type::u32, v);
  };
  const Value x = wide(0), y = wide(1);
  result_mask(b, i, kSide == Side::straight ? b.compare(kOp, x, y) : b.compare(kOp, y, x));
  return {};
}

}  // namespace

#define ORRERY_COMPARE(name, ...)            \
  set(t, Opcode::v_cmp_##name, __VA_ARGS__); \
  set(t, Opcode::v_cmpx_##name, __VA_ARGS__)
#define ORRERY_FLOAT_COMPARES(suffix)                                           \
  ORRERY_COMPARE(f_##suffix, always<false>);                                    \
  ORRERY_COMPARE(lt_##suffix, compare<Op::flt, Type::suffix>);                  \
  ORRERY_COMPARE(eq_##suffix, compare<Op::feq, Type::suffix>);                  \
  ORRERY_COMPARE(le_##suffix, compare<Op::fle, Type::suffix>);                  \
  ORRERY_COMPARE(gt_##suffix, compare<Op::flt, Type::suffix, Side::swapped>);   \
  ORRERY_COMPARE(lg_##suffix, compare<Op::fne, Type::suffix>);                  \
  ORRERY_COMPARE(ge_##suffix, compare<Op::fle, Type::suffix, Side::swapped>);   \
  ORRERY_COMPARE(o_##suffix, unordered<Type::suffix, true>);                    \
  ORRERY_COMPARE(u_##suffix, unordered<Type::suffix, false>);                   \
  ORRERY_COMPARE(nge_##suffix, compare<Op::fult, Type::suffix>);                \
  ORRERY_COMPARE(nlg_##suffix, compare<Op::fueq, Type::suffix>);                \
  ORRERY_COMPARE(ngt_##suffix, compare<Op::fule, Type::suffix>);                \
  ORRERY_COMPARE(nle_##suffix, compare<Op::fult, Type::suffix, Side::swapped>); \
  ORRERY_COMPARE(neq_##suffix, compare<Op::fune, Type::suffix>);                \
  ORRERY_COMPARE(nlt_##suffix, compare<Op::fule, Type::suffix, Side::swapped>); \
  ORRERY_COMPARE(tru_##suffix, always<true>)
#define ORRERY_INTEGER_COMPARES(suffix, type, less, less_or_equal)          \
  ORRERY_COMPARE(f_##suffix, always<false>);                                \
  ORRERY_COMPARE(lt_##suffix, compare<less, type>);                         \
  ORRERY_COMPARE(eq_##suffix, compare<Op::ieq, type>);                      \
  ORRERY_COMPARE(le_##suffix, compare<less_or_equal, type>);                \
  ORRERY_COMPARE(gt_##suffix, compare<less, type, Side::swapped>);          \
  ORRERY_COMPARE(ne_##suffix, compare<Op::ine, type>);                      \
  ORRERY_COMPARE(ge_##suffix, compare<less_or_equal, type, Side::swapped>); \
  ORRERY_COMPARE(t_##suffix, always<true>)
#define ORRERY_SHORT_COMPARES(suffix, is_signed, less, less_or_equal)         \
  ORRERY_COMPARE(lt_##suffix, compare_short<less, is_signed>);                \
  ORRERY_COMPARE(eq_##suffix, compare_short<Op::ieq, is_signed>);             \
  ORRERY_COMPARE(le_##suffix, compare_short<less_or_equal, is_signed>);       \
  ORRERY_COMPARE(gt_##suffix, compare_short<less, is_signed, Side::swapped>); \
  ORRERY_COMPARE(ne_##suffix, compare_short<Op::ine, is_signed>);             \
  ORRERY_COMPARE(ge_##suffix, compare_short<less_or_equal, is_signed, Side::swapped>)

void add_vector_compare(SemanticTable& t) {
  ORRERY_FLOAT_COMPARES(f16);
  ORRERY_FLOAT_COMPARES(f32);
  ORRERY_FLOAT_COMPARES(f64);
  ORRERY_INTEGER_COMPARES(i32, Type::u32, Op::slt, Op::sle);
  ORRERY_INTEGER_COMPARES(u32, Type::u32, Op::ult, Op::ule);
  ORRERY_INTEGER_COMPARES(i64, Type::u64, Op::slt, Op::sle);
  ORRERY_INTEGER_COMPARES(u64, Type::u64, Op::ult, Op::ule);
  ORRERY_SHORT_COMPARES(i16, true, Op::slt, Op::sle);
  ORRERY_SHORT_COMPARES(u16, false, Op::ult, Op::ule);
}

}  // namespace orrery::shader::semantics
