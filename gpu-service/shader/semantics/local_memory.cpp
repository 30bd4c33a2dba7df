// DS instructions that read, write or update LDS.
#include "gpu-service/shader/ir/operand.hpp"
#include "gpu-service/shader/semantics/memory_families.hpp"

namespace orrery::shader::semantics {

using ir::Access;
using ir::AtomicOp;
using ir::Builder;
using ir::Op;
using ir::Outcome;
using ir::refuse;
using ir::Space;
using ir::Type;
using ir::Value;

namespace {

Access local(const Instruction& i, int32_t offset, uint8_t components = 1, uint8_t bytes = 4) {
  return {.space = Space::lds, .bytes = bytes, .components = components, .offset = offset, .instruction = i.offset};
}

template <uint8_t kDwords>
Outcome read(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  const auto parts = b.load(local(i, i.memory_offset, kDwords), b.exec(), b.vgpr(i.address.index));
  for (uint32_t n = 0; n < kDwords; ++n) b.set_vgpr((i.destination.index + n) & 255u, parts[n]);
  return {};
}

template <uint8_t kDwords>
Outcome write(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  Value data[4];
  for (uint32_t n = 0; n < kDwords; ++n) data[n] = b.vgpr((i.data.index + n) & 255u);
  b.store(local(i, i.memory_offset, kDwords), b.exec(), b.vgpr(i.address.index), std::span<const Value>(data, kDwords));
  return {};
}

// Two elements of kDwords, offsets counted in elements (times 64).
template <uint8_t kDwords, int32_t kScale>
Outcome read2(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  const Value address = b.vgpr(i.address.index);
  const int32_t unit = kDwords * 4 * kScale;
  const auto first = b.load(local(i, i.memory_offset * unit, kDwords), b.exec(), address);
  const auto second = b.load(local(i, i.offset1 * unit, kDwords), b.exec(), address);
  for (uint32_t n = 0; n < kDwords; ++n) {
    b.set_vgpr((i.destination.index + n) & 255u, first[n]);
    b.set_vgpr((i.destination.index + kDwords + n) & 255u, second[n]);
  }
  return {};
}

template <uint8_t kDwords, int32_t kScale>
Outcome write2(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  const Value address = b.vgpr(i.address.index);
  const int32_t unit = kDwords * 4 * kScale;
  Value first[kDwords], second[kDwords];
  for (uint32_t n = 0; n < kDwords; ++n) {
    first[n] = b.vgpr((i.data.index + n) & 255u);
    second[n] = b.vgpr((i.data2.index + n) & 255u);
  }
  b.store(local(i, i.memory_offset * unit, kDwords), b.exec(), address, first);
  b.store(local(i, i.offset1 * unit, kDwords), b.exec(), address, second);
  return {};
}

enum class Half : uint8_t { whole, low, high };

template <uint8_t kBytes, bool kSigned, Half kHalf>
Outcome read_narrow(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  Value v = b.load(local(i, i.memory_offset, 1, kBytes), b.exec(), b.vgpr(i.address.index))[0];
  if (kSigned) v = b.op(Op::bitfield_s, Type::u32, {v, b.u32(0), b.u32(kBytes * 8u)});
  if (kHalf != Half::whole) {
    const Value old = b.vgpr(i.destination.index);
    v = kHalf == Half::low ? b.lor(b.land(v, b.u32(0xffff)), b.land(old, b.u32(0xffff0000)))
                           : b.lor(b.shl(v, b.u32(16)), b.land(old, b.u32(0xffff)));
  }
  b.set_vgpr(i.destination.index, v);
  return {};
}

template <uint8_t kBytes, bool kHigh>
Outcome write_narrow(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  const Value data[] = {kHigh ? b.lshr(b.vgpr(i.data.index), b.u32(16)) : b.vgpr(i.data.index)};
  b.store(local(i, i.memory_offset, 1, kBytes), b.exec(), b.vgpr(i.address.index), data);
  return {};
}

// ds_append / ds_consume: one atomic for the wave, of its active lanes' count; all get the value before it.
template <AtomicOp kOp>
Outcome count_lanes(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  const Value exec = b.exec();
  const Value word = b.ballot(exec);
  Value count = b.op(Op::bit_count, Type::u32, {b.wave64() ? b.low32(word) : word});
  if (b.wave64()) count = b.add(count, b.op(Op::bit_count, Type::u32, {b.high32(word)}));
  const Value first = b.op(Op::first_lane, Type::u32, {exec});
  const Value one = b.land(exec, b.compare(Op::ieq, b.lane_id(), first));
  Access a = local(i, i.memory_offset);
  a.atomic = kOp;
  a.returns = true;
  const Value base = b.land(b.sgpr(Builder::kM0), b.u32(0xffff));
  const Value old = b.atomic(a, one, base, count);
  b.set_vgpr(i.destination.index, b.read_lane(old, first));
  return {};
}

// At M0[15:0] plus the offset plus four times the lane's number.
Value lane_address(Builder& b) {
  return b.add(b.land(b.sgpr(Builder::kM0), b.u32(0xffff)), b.shl(b.lane_id(), b.u32(2)));
}
Outcome read_by_lane(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  b.set_vgpr(i.destination.index, b.load(local(i, i.memory_offset), b.exec(), lane_address(b))[0]);
  return {};
}
Outcome write_by_lane(Builder& b, const Instruction& i) {
  if (i.gds) return refuse("GDS");
  const Value data[] = {b.vgpr(i.data.index)};
  b.store(local(i, i.memory_offset), b.exec(), lane_address(b), data);
  return {};
}

}  // namespace

void add_local_memory(ir::SemanticTable& table) {
  set(table, Opcode::ds_read_b32, read<1>);
  set(table, Opcode::ds_read_b64, read<2>);
  set(table, Opcode::ds_read_b96, read<3>);
  set(table, Opcode::ds_read_b128, read<4>);
  set(table, Opcode::ds_write_b32, write<1>);
  set(table, Opcode::ds_write_b64, write<2>);
  set(table, Opcode::ds_write_b96, write<3>);
  set(table, Opcode::ds_write_b128, write<4>);
  set(table, Opcode::ds_read2_b32, read2<1, 1>);
  set(table, Opcode::ds_read2_b64, read2<2, 1>);
  set(table, Opcode::ds_read2st64_b32, read2<1, 64>);
  set(table, Opcode::ds_read2st64_b64, read2<2, 64>);
  set(table, Opcode::ds_write2_b32, write2<1, 1>);
  set(table, Opcode::ds_write2_b64, write2<2, 1>);
  set(table, Opcode::ds_write2st64_b32, write2<1, 64>);
  set(table, Opcode::ds_write2st64_b64, write2<2, 64>);
  set(table, Opcode::ds_read_u8, read_narrow<1, false, Half::whole>);
  set(table, Opcode::ds_read_i8, read_narrow<1, true, Half::whole>);
  set(table, Opcode::ds_read_u16, read_narrow<2, false, Half::whole>);
  set(table, Opcode::ds_read_i16, read_narrow<2, true, Half::whole>);
  set(table, Opcode::ds_read_u8_d16, read_narrow<1, false, Half::low>);
  set(table, Opcode::ds_read_i8_d16, read_narrow<1, true, Half::low>);
  set(table, Opcode::ds_read_u16_d16, read_narrow<2, false, Half::low>);
  set(table, Opcode::ds_read_u8_d16_hi, read_narrow<1, false, Half::high>);
  set(table, Opcode::ds_read_i8_d16_hi, read_narrow<1, true, Half::high>);
  set(table, Opcode::ds_read_u16_d16_hi, read_narrow<2, false, Half::high>);
  set(table, Opcode::ds_write_b8, write_narrow<1, false>);
  set(table, Opcode::ds_write_b16, write_narrow<2, false>);
  set(table, Opcode::ds_write_b8_d16_hi, write_narrow<1, true>);
  set(table, Opcode::ds_write_b16_d16_hi, write_narrow<2, true>);
  set(table, Opcode::ds_read_addtid_b32, read_by_lane);
  set(table, Opcode::ds_write_addtid_b32, write_by_lane);
  set(table, Opcode::ds_append, count_lanes<AtomicOp::add>);
  set(table, Opcode::ds_consume, count_lanes<AtomicOp::sub>);
}

}  // namespace orrery::shader::semantics
