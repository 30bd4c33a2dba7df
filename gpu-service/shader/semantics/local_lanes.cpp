// DS instructions that use the LDS hardware's crossbar but no LDS: permutes and swizzles.
#include <bit>

#include "gpu-service/shader/ir/operand.hpp"
#include "gpu-service/shader/semantics/memory_families.hpp"

namespace orrery::shader::semantics {

using ir::Builder;
using ir::Op;
using ir::Outcome;
using ir::Type;
using ir::Value;

namespace {

// The lane's bit of exec, or all when exec is full.
Value is_active(Builder& b, Value lane) {
  if (b.is_true(b.exec())) return b.b1(true);
  const Value number = b.sgpr(Builder::kExec, b.wave64() ? Type::u64 : Type::u32);
  const Value index = b.wave64() ? b.zext(Type::u64, lane) : lane;
  const Value bit = b.land(b.lshr(number, index), b.constant(b.type(number), 1));
  return b.compare(Op::ine, bit, b.constant(b.type(number), 0));
}

// Lanes of the source's own half of 32: on gfx10 the crossbar spans 32 lanes, wave64 does two passes.
Value same_half(Builder& b, Value index) {
  const Value lane = b.land(index, b.u32(31));
  return b.wave64() ? b.lor(lane, b.land(b.lane_id(), b.u32(32))) : lane;
}

// Inactive source lanes deliver 0.
Outcome bpermute(Builder& b, const Instruction& i) {
  const Value address = b.add(b.vgpr(i.address.index), b.u32(static_cast<uint32_t>(i.memory_offset)));
  const Value lane = same_half(b, b.lshr(address, b.u32(2)));
  const Value moved = b.shuffle(b.vgpr(i.data.index), lane);
  b.set_vgpr(i.destination.index, b.select(is_active(b, lane), moved, b.u32(0)));
  return {};
}

// Active lanes push their value to a lane of their half; where several push to one, the highest counts; where none
// does, 0 arrives. Who pushes to a lane are those whose number's five bits are its own.
Outcome permute(Builder& b, const Instruction& i) {
  const Value address = b.add(b.vgpr(i.address.index), b.u32(static_cast<uint32_t>(i.memory_offset)));
  const Value target = b.lshr(address, b.u32(2)), lane = b.lane_id();
  const Value high = b.compare(Op::ine, b.land(lane, b.u32(32)), b.u32(0));
  const auto own_half = [&](Value condition) {
    const Value mask = b.ballot(condition);
    return b.wave64() ? b.select(high, b.high32(mask), b.low32(mask)) : mask;
  };
  const auto bit = [&](Value v, uint32_t n) { return b.compare(Op::ine, b.land(v, b.u32(1u << n)), b.u32(0)); };
  Value from = own_half(b.exec());
  for (uint32_t n = 0; n < 5; ++n) {
    const Value mask = own_half(b.land(bit(target, n), b.exec()));
    from = b.land(from, b.select(bit(lane, n), mask, b.lnot(mask)));
  }
  const Value source = b.land(b.op(Op::find_umsb, Type::u32, {from}), b.u32(31));
  const Value moved = b.shuffle(b.vgpr(i.data.index), same_half(b, source));
  b.set_vgpr(i.destination.index, b.select(b.compare(Op::ine, from, b.u32(0)), moved, b.u32(0)));
  return {};
}

// Which lane each lane reads, by the pattern of ds_swizzle (ISA document, DS_SWIZZLE_B32).
Outcome swizzle(Builder& b, const Instruction& i) {
  const auto pattern = static_cast<uint32_t>(i.memory_offset);
  const Value lane = b.lane_id();
  Value source;
  if (pattern >= 0xe000) {  // bit-reversed order, within groups that the mask keeps
    const uint32_t mask = pattern & 31;
    const Value reversed = b.lshr(b.op(Op::bit_reverse, Type::u32, {b.land(lane, b.u32(31))}), b.u32(27));
    const Value low = b.lshr(reversed, b.u32(static_cast<uint32_t>(std::popcount(mask))));
    source = b.lor(b.lor(low, b.land(lane, b.u32(mask))), b.land(lane, b.u32(32)));
  } else if (pattern >= 0xc000) {  // rotation of the lanes that the mask does not keep
    const uint32_t mask = pattern & 31, by = (pattern >> 5) & 31;
    const Value turned = b.add(lane, b.u32((pattern & 0x400) != 0 ? 0u - by : by));
    source = b.lor(b.land(lane, b.u32(mask | 32)), b.land(turned, b.u32(~mask & 31)));
  } else if (pattern & 0x8000) {
    const Value shift = b.shl(b.land(lane, b.u32(3)), b.u32(1));
    source = b.lor(b.land(lane, b.u32(~3u)), b.land(b.lshr(b.u32(pattern & 255), shift), b.u32(3)));
  } else {
    const uint32_t keep = pattern & 31, set = (pattern >> 5) & 31, flip = (pattern >> 10) & 31;
    const Value low = b.lxor(b.lor(b.land(lane, b.u32(keep)), b.u32(set)), b.u32(flip));
    source = b.lor(b.land(lane, b.u32(~31u)), b.land(low, b.u32(31)));
  }
  const Value moved = b.shuffle(b.vgpr(i.data.kind == OperandKind::vgpr ? i.data.index : i.address.index), source);
  b.set_vgpr(i.destination.index, b.select(is_active(b, source), moved, b.u32(0)));
  return {};
}

}  // namespace

void add_local_lanes(ir::SemanticTable& table) {
  set(table, Opcode::ds_bpermute_b32, bpermute);
  set(table, Opcode::ds_permute_b32, permute);
  set(table, Opcode::ds_swizzle_b32, swizzle);
}

}  // namespace orrery::shader::semantics
