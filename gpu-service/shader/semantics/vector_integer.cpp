// 32-bit integers per lane: add, subtract (with carry), minimum, maximum, logic, and their three-operand forms.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr Type kU32 = Type::u32;

// Which source is subtracted from which.
enum class Order : uint8_t { straight, reversed };

struct Pair {
  Value x, y;
};
Pair sources(Builder& b, const Instruction& i, Order order) {
  const Value first = source(b, i, 0, kU32), second = source(b, i, 1, kU32);
  return order == Order::straight ? Pair{first, second} : Pair{second, first};
}

Outcome move(Builder& b, const Instruction& i) {
  result(b, i, source(b, i, 0, kU32));
  return {};
}

Outcome add(Builder& b, const Instruction& i) {
  result(b, i, saturating_add(b, source(b, i, 0, kU32), source(b, i, 1, kU32), i.clamp));
  return {};
}

template <Order kOrder>
Outcome subtract(Builder& b, const Instruction& i) {
  const auto [x, y] = sources(b, i, kOrder);
  const Value d = b.sub(x, y);
  result(b, i, i.clamp ? b.select(b.compare(Op::ult, x, y), b.u32(0), d) : d);
  return {};
}

Outcome add_signed(Builder& b, const Instruction& i) {
  result(b, i, saturating_add_signed(b, source(b, i, 0, kU32), source(b, i, 1, kU32), i.clamp));
  return {};
}

Outcome subtract_signed(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kU32), y = source(b, i, 1, kU32), d = b.sub(x, y);
  const Value overflow = negative(b, b.land(b.lxor(x, y), b.lxor(x, d)));
  const Value edge = signed_edge(b, x);
  result(b, i, i.clamp ? b.select(overflow, edge, d) : d);
  return {};
}

// The result may be the register that the carry is computed from, so the carry is written from values.
void carry_result(Builder& b, const Instruction& i, Value d, Value carry, uint32_t clamped) {
  result(b, i, i.clamp ? b.select(carry, b.u32(clamped), d) : d);
  mask_result(b, i.destination2, carry);
}

Outcome add_carry_out(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kU32), d = b.add(x, source(b, i, 1, kU32));
  carry_result(b, i, d, b.compare(Op::ult, d, x), ~0u);
  return {};
}

template <Order kOrder>
Outcome subtract_borrow_out(Builder& b, const Instruction& i) {
  const auto [x, y] = sources(b, i, kOrder);
  carry_result(b, i, b.sub(x, y), b.compare(Op::ult, x, y), 0);
  return {};
}

Value carry_in(Builder& b, const Instruction& i) { return b.select(source_mask(b, i, 2), b.u32(1), b.u32(0)); }

Outcome add_carry_in(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kU32), sum = b.add(x, source(b, i, 1, kU32)), d = b.add(sum, carry_in(b, i));
  carry_result(b, i, d, b.lor(b.compare(Op::ult, sum, x), b.compare(Op::ult, d, sum)), ~0u);
  return {};
}

template <Order kOrder>
Outcome subtract_borrow_in(Builder& b, const Instruction& i) {
  const auto [x, y] = sources(b, i, kOrder);
  const Value difference = b.sub(x, y), c = carry_in(b, i);
  carry_result(b, i, b.sub(difference, c), b.lor(b.compare(Op::ult, x, y), b.compare(Op::ult, difference, c)), 0);
  return {};
}

Outcome not_xor(Builder& b, const Instruction& i) {
  result(b, i, b.lnot(b.lxor(source(b, i, 0, kU32), source(b, i, 1, kU32))));
  return {};
}

// The middle one of three.
template <Op kMin, Op kMax>
Outcome median(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, kU32), y = source(b, i, 1, kU32), z = source(b, i, 2, kU32);
  result(b, i, b.op(kMax, b.op(kMin, x, y), b.op(kMin, b.op(kMax, x, y), z)));
  return {};
}

}  // namespace

void add_vector_integer(SemanticTable& t) {
  set(t, Opcode::v_mov_b32, move);
  set(t, Opcode::v_add_nc_u32, add);
  set(t, Opcode::v_sub_nc_u32, subtract<Order::straight>);
  set(t, Opcode::v_subrev_nc_u32, subtract<Order::reversed>);
  set(t, Opcode::v_add_nc_i32, add_signed);
  set(t, Opcode::v_sub_nc_i32, subtract_signed);
  set(t, Opcode::v_add_co_u32, add_carry_out);
  set(t, Opcode::v_sub_co_u32, subtract_borrow_out<Order::straight>);
  set(t, Opcode::v_subrev_co_u32, subtract_borrow_out<Order::reversed>);
  set(t, Opcode::v_add_co_ci_u32, add_carry_in);
  set(t, Opcode::v_sub_co_ci_u32, subtract_borrow_in<Order::straight>);
  set(t, Opcode::v_subrev_co_ci_u32, subtract_borrow_in<Order::reversed>);
  set(t, Opcode::v_min_i32, binary<Op::smin, kU32>);
  set(t, Opcode::v_max_i32, binary<Op::smax, kU32>);
  set(t, Opcode::v_min_u32, binary<Op::umin, kU32>);
  set(t, Opcode::v_max_u32, binary<Op::umax, kU32>);
  set(t, Opcode::v_and_b32, binary<Op::iand, kU32>);
  set(t, Opcode::v_or_b32, binary<Op::ior, kU32>);
  set(t, Opcode::v_xor_b32, binary<Op::ixor, kU32>);
  set(t, Opcode::v_xnor_b32, not_xor);
  set(t, Opcode::v_not_b32, unary<Op::inot, kU32>);
  set(t, Opcode::v_add3_u32, chained<Op::iadd, Op::iadd, kU32>);
  set(t, Opcode::v_xad_u32, chained<Op::ixor, Op::iadd, kU32>);
  set(t, Opcode::v_xor3_b32, chained<Op::ixor, Op::ixor, kU32>);
  set(t, Opcode::v_or3_b32, chained<Op::ior, Op::ior, kU32>);
  set(t, Opcode::v_and_or_b32, chained<Op::iand, Op::ior, kU32>);
  set(t, Opcode::v_lshl_add_u32, chained<Op::shl, Op::iadd, kU32>);
  set(t, Opcode::v_lshl_or_b32, chained<Op::shl, Op::ior, kU32>);
  set(t, Opcode::v_add_lshl_u32, chained<Op::iadd, Op::shl, kU32>);
  set(t, Opcode::v_min3_i32, chained<Op::smin, Op::smin, kU32>);
  set(t, Opcode::v_max3_i32, chained<Op::smax, Op::smax, kU32>);
  set(t, Opcode::v_min3_u32, chained<Op::umin, Op::umin, kU32>);
  set(t, Opcode::v_max3_u32, chained<Op::umax, Op::umax, kU32>);
  set(t, Opcode::v_med3_i32, median<Op::smin, Op::smax>);
  set(t, Opcode::v_med3_u32, median<Op::umin, Op::umax>);
}

}  // namespace orrery::shader::semantics
