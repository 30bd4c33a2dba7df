// DS instructions that update LDS: of 32 and 64 bits, with and without the old value; pairs; with the second operand
// in LDS. An atomic's address is a multiple of its size.
#include "gpu-service/shader/semantics/memory_families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {

using ir::Access;
using ir::AtomicOp;

namespace {

Access local(Builder& b, const Instruction& i, AtomicOp op, Type type, int32_t offset) {
  Access a{.space = ir::Space::lds,
           .bytes = static_cast<uint8_t>(bits_of(type) / 8),
           .atomic = op,
           .returns = i.destination.kind == OperandKind::vgpr,
           .offset = offset,
           .instruction = i.offset};
  if (op == AtomicOp::fadd) {  // rounds to nearest even whatever MODE says
    a.flush_inputs = !b.mode().keeps_inputs(Type::f32);
    a.flush_result = !b.mode().keeps_results(Type::f32);
  }
  return a;
}

// Of two data registers the first is compared with or masks, the second is what is stored.
template <AtomicOp kOp, Type kType>
Outcome update(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  constexpr bool kTwo = ir::has_second_operand(kOp);
  const Access a = local(b, i, kOp, kType, i.memory_offset);
  const Value data = b.vgpr(kTwo ? i.data2.index : i.data.index, kType);
  const Value old = b.atomic(a, b.exec(), b.vgpr(i.address.index), data, kTwo ? b.vgpr(i.data.index, kType) : Value{});
  if (a.returns) b.set_vgpr(i.destination.index, old);
  return {};
}

// Two exchanges; offsets count elements (times 64).
template <Type kType, int32_t kScale>
Outcome exchange_pair(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  constexpr int32_t kUnit = static_cast<int32_t>(bits_of(kType)) / 8 * kScale;
  const Value address = b.vgpr(i.address.index);
  const Value data = b.vgpr(i.data.index, kType), data2 = b.vgpr(i.data2.index, kType);
  const Value first = b.atomic(local(b, i, AtomicOp::swap, kType, i.memory_offset * kUnit), b.exec(), address, data);
  const Value second = b.atomic(local(b, i, AtomicOp::swap, kType, i.offset1 * kUnit), b.exec(), address, data2);
  b.set_vgpr(i.destination.index, first);
  b.set_vgpr((i.destination.index + bits_of(kType) / 32) & 255u, second);
  return {};
}

// ds_*_src2: the operand lies in LDS too, at A + 4 * (offset[15] ? A[31:17] : offset[14:0]), both signed. Source: AMD
// GCN3 and RDNA ISA documents, DS opcodes 128 on.
struct TwoPlaces {
  Value target, operand;
};
TwoPlaces two_places(Builder& b, const Instruction& i) {
  const Value address = b.vgpr(i.address.index);
  const auto offset = static_cast<uint32_t>(i.memory_offset);
  if ((offset & 0x8000) == 0) {
    const uint32_t distance = (offset & 0x4000) != 0 ? offset | 0xffff8000u : offset;
    return {address, b.add(address, b.u32(distance * 4))};
  }
  const Value target = b.land(address, b.u32(0x1ffff));
  return {target, b.add(target, b.shl(b.ashr(address, b.u32(17)), b.u32(2)))};
}

template <AtomicOp kOp, Type kType>
Outcome update_from_lds(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  constexpr uint8_t kDwords = bits_of(kType) / 32;
  const TwoPlaces at = two_places(b, i);
  const Access source{.space = ir::Space::lds, .components = kDwords, .instruction = i.offset};
  const auto parts = b.load(source, b.exec(), at.operand);
  if (kOp == AtomicOp::none) {  // ds_write_src2
    b.store(source, b.exec(), at.target, std::span<const Value>(parts).first(kDwords));
    return {};
  }
  const Value data = kDwords == 2 ? b.pack64(parts[0], parts[1]) : parts[0];
  b.atomic(local(b, i, kOp, kType, 0), b.exec(), at.target, data);
  return {};
}

Outcome nothing(Builder&, const Instruction&) { return {}; }
Outcome in_gds(Builder&, const Instruction&) { return refuse("GDS"); }

}  // namespace

void add_local_atomics(ir::SemanticTable& table) {
#define ORRERY_BOTH(name, type, op, width)                                   \
  set(table, Opcode::ds_##name##_##type, update<AtomicOp::op, Type::width>); \
  set(table, Opcode::ds_##name##_rtn_##type, update<AtomicOp::op, Type::width>);
#define ORRERY_WIDTHS(name, type, op)  \
  ORRERY_BOTH(name, type##32, op, u32) \
  ORRERY_BOTH(name, type##64, op, u64)
#define ORRERY_SRC2(name, type, op)                                                          \
  set(table, Opcode::ds_##name##_src2_##type##32, update_from_lds<AtomicOp::op, Type::u32>); \
  set(table, Opcode::ds_##name##_src2_##type##64, update_from_lds<AtomicOp::op, Type::u64>);
#define ORRERY_ALL(name, type, op) \
  ORRERY_WIDTHS(name, type, op)    \
  ORRERY_SRC2(name, type, op)
  ORRERY_ALL(add, u, add)
  ORRERY_ALL(sub, u, sub)
  ORRERY_ALL(rsub, u, reverse_sub)
  ORRERY_ALL(inc, u, inc)
  ORRERY_ALL(dec, u, dec)
  ORRERY_ALL(min, i, smin)
  ORRERY_ALL(max, i, smax)
  ORRERY_ALL(min, u, umin)
  ORRERY_ALL(max, u, umax)
  ORRERY_ALL(and, b, iand)
  ORRERY_ALL(or, b, ior)
  ORRERY_ALL(xor, b, ixor)
  ORRERY_ALL(min, f, fmin)
  ORRERY_ALL(max, f, fmax)
  ORRERY_WIDTHS(mskor, b, mask_or)
  ORRERY_WIDTHS(cmpst, b, compare_swap)
  ORRERY_WIDTHS(cmpst, f, fcompare_swap)
  ORRERY_BOTH(add, f32, fadd, u32)
#undef ORRERY_ALL
#undef ORRERY_SRC2
#undef ORRERY_WIDTHS
#undef ORRERY_BOTH
  set(table, Opcode::ds_add_src2_f32, update_from_lds<AtomicOp::fadd, Type::u32>);
  set(table, Opcode::ds_write_src2_b32, update_from_lds<AtomicOp::none, Type::u32>);
  set(table, Opcode::ds_write_src2_b64, update_from_lds<AtomicOp::none, Type::u64>);
  set(table, Opcode::ds_wrap_rtn_b32, update<AtomicOp::wrap, Type::u32>);
  set(table, Opcode::ds_wrxchg_rtn_b32, update<AtomicOp::swap, Type::u32>);
  set(table, Opcode::ds_wrxchg_rtn_b64, update<AtomicOp::swap, Type::u64>);
  set(table, Opcode::ds_wrxchg2_rtn_b32, exchange_pair<Type::u32, 1>);
  set(table, Opcode::ds_wrxchg2_rtn_b64, exchange_pair<Type::u64, 1>);
  set(table, Opcode::ds_wrxchg2st64_rtn_b32, exchange_pair<Type::u32, 64>);
  set(table, Opcode::ds_wrxchg2st64_rtn_b64, exchange_pair<Type::u64, 64>);
  set(table, Opcode::ds_nop, nothing);
  for (const Opcode o :
       {Opcode::ds_gws_sema_release_all, Opcode::ds_gws_init, Opcode::ds_gws_sema_v, Opcode::ds_gws_sema_br,
        Opcode::ds_gws_sema_p, Opcode::ds_gws_barrier, Opcode::ds_ordered_count})
    set(table, o, in_gds);
}

}  // namespace orrery::shader::semantics
