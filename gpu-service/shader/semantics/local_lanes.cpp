// DS instructions that use the LDS hardware's crossbar but no LDS: permutes and swizzles.
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

Outcome swizzle(Builder& b, const Instruction& i) {
  const auto pattern = static_cast<uint32_t>(i.memory_offset);
  const Value lane = b.lane_id();
  Value source;
  if (pattern & 0x8000) {
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
  set(table, Opcode::ds_swizzle_b32, swizzle);
}

}  // namespace orrery::shader::semantics
