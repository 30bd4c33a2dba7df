// Scalar stores and atomics: the wave does them once, whatever exec says. The IR gives them to lane 0.
#include "gpu-service/shader/semantics/memory_families.hpp"
#include "gpu-service/shader/semantics/scalar_address.hpp"

namespace orrery::shader::semantics {

using ir::Access;
using ir::AtomicOp;
using ir::Space;

namespace {

Value lane_0(Builder& b) { return b.land(b.wave_exists(), b.compare(Op::ieq, b.lane_id(), b.u32(0))); }

// s_scratch counts the register in units of 64 bytes.
Value direct_address(Builder& b, const Instruction& i, uint32_t unit) {
  Value address = b.land(b.sgpr(i.base.index, Type::u64), b.u64(~3ull));
  if (i.scalar_offset.kind != OperandKind::none) {
    const Value more = unit == 1 ? scalar_register_offset(b, i) : ir::read(b, i.scalar_offset, Type::u32);
    address = b.add(address, b.op(Op::imul, b.zext(Type::u64, more), b.u64(unit)));
  }
  return b.add(address, b.u64(static_cast<uint64_t>(static_cast<int64_t>(i.memory_offset & ~3))));
}

template <uint32_t kUnit>
Outcome store(Builder& b, const Instruction& i) {
  if (kUnit != 1 && (b.options().rsrc2 & 1)) return refuse("scalar access to private memory, which is not the guest's");
  Value data[4];
  const uint32_t count = i.data.dwords;
  for (uint32_t n = 0; n < count; ++n) data[n] = b.sgpr(i.data.index + n);
  const Access a{.components = static_cast<uint8_t>(count), .scalar = true, .instruction = i.offset};
  b.store(a, lane_0(b), direct_address(b, i, kUnit), std::span<const Value>(data, count));
  return {};
}

Outcome scratch_load(Builder& b, const Instruction& i) {
  if (b.options().rsrc2 & 1) return refuse("scalar access to private memory, which is not the guest's");
  const uint32_t count = i.destination.dwords;
  const Access a{.components = static_cast<uint8_t>(count), .coherent = i.glc || i.dlc, .instruction = i.offset};
  const auto parts = b.load(a, b.b1(true), direct_address(b, i, 64));
  for (uint32_t n = 0; n < count; ++n) b.set_sgpr(i.destination.index + n, parts[n]);
  return {};
}

// Dwords behind the buffer's end are dropped.
Outcome buffer_store(Builder& b, const Instruction& i) {
  const ScalarBuffer buffer = scalar_buffer(b, i);
  for (uint32_t n = 0; n < i.data.dwords; ++n) {
    const Value at = b.add(buffer.offset, b.u32(n * 4));
    const Value inside = b.land(b.compare(Op::ult, at, buffer.size), b.compare(Op::ule, b.u32(n * 4), at));
    const Access a{.space = buffer.space, .scalar = true, .binding = buffer.binding, .instruction = i.offset};
    const Value data[] = {b.sgpr(i.data.index + n)};
    b.store(a, b.land(lane_0(b), inside), buffer.address(b, at), data);
  }
  return {};
}

struct Place {
  Space space;
  uint32_t binding;
  Value lanes, address;
};

template <AtomicOp kOp, Type kType>
Outcome update(Builder& b, const Instruction& i, const Place& place) {
  constexpr uint32_t kDwords = bits_of(kType) / 32;
  const Access a{.space = place.space,
                 .bytes = kDwords * 4,
                 .atomic = kOp,
                 .returns = i.destination.kind == OperandKind::sgpr,
                 .scalar = true,
                 .binding = place.binding,
                 .instruction = i.offset};
  const Value data = b.sgpr(i.data.index, kType);
  const Value second = ir::has_second_operand(kOp) ? b.sgpr(i.data.index + kDwords, kType) : Value{};
  const Value old = b.atomic(a, place.lanes, place.address, data, second);
  if (a.returns) b.set_sgpr(i.destination.index, b.read_lane(old, b.u32(0)));
  return {};
}

template <AtomicOp kOp, Type kType>
Outcome direct_update(Builder& b, const Instruction& i) {
  return update<kOp, kType>(b, i, {Space::guest, 0, lane_0(b), direct_address(b, i, 1)});
}

// Inside whole or not at all.
template <AtomicOp kOp, Type kType>
Outcome buffer_update(Builder& b, const Instruction& i) {
  constexpr uint32_t kBytes = bits_of(kType) / 8;
  const ScalarBuffer buffer = scalar_buffer(b, i);
  const Value at = buffer.offset;
  Value inside = b.compare(Op::ult, at, buffer.size);
  if (kBytes == 8) inside = b.land(inside, b.compare(Op::ule, b.u32(8), b.sub(buffer.size, at)));
  return update<kOp, kType>(b, i, {buffer.space, buffer.binding, b.land(lane_0(b), inside), buffer.address(b, at)});
}

}  // namespace

void add_scalar_stores(ir::SemanticTable& table) {
  for (Opcode o : {Opcode::s_store_dword, Opcode::s_store_dwordx2, Opcode::s_store_dwordx4}) set(table, o, store<1>);
  for (Opcode o : {Opcode::s_scratch_store_dword, Opcode::s_scratch_store_dwordx2, Opcode::s_scratch_store_dwordx4})
    set(table, o, store<64>);
  for (Opcode o : {Opcode::s_scratch_load_dword, Opcode::s_scratch_load_dwordx2, Opcode::s_scratch_load_dwordx4})
    set(table, o, scratch_load);
  for (Opcode o : {Opcode::s_buffer_store_dword, Opcode::s_buffer_store_dwordx2, Opcode::s_buffer_store_dwordx4})
    set(table, o, buffer_store);
#define ORRERY_ATOMIC(name, op)                                                       \
  set(table, Opcode::s_atomic_##name, direct_update<AtomicOp::op, Type::u32>);        \
  set(table, Opcode::s_atomic_##name##_x2, direct_update<AtomicOp::op, Type::u64>);   \
  set(table, Opcode::s_buffer_atomic_##name, buffer_update<AtomicOp::op, Type::u32>); \
  set(table, Opcode::s_buffer_atomic_##name##_x2, buffer_update<AtomicOp::op, Type::u64>);
  ORRERY_ATOMIC(swap, swap)
  ORRERY_ATOMIC(cmpswap, compare_swap)
  ORRERY_ATOMIC(add, add)
  ORRERY_ATOMIC(sub, sub)
  ORRERY_ATOMIC(smin, smin)
  ORRERY_ATOMIC(umin, umin)
  ORRERY_ATOMIC(smax, smax)
  ORRERY_ATOMIC(umax, umax)
  ORRERY_ATOMIC(and, iand)
  ORRERY_ATOMIC(or, ior)
  ORRERY_ATOMIC(xor, ixor)
  ORRERY_ATOMIC(inc, inc)
  ORRERY_ATOMIC(dec, dec)
#undef ORRERY_ATOMIC
}

}  // namespace orrery::shader::semantics
