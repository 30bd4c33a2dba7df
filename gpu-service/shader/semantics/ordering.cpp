// Waits, barriers, cache control, and the program counter.
#include "gpu-service/shader/ir/operand.hpp"
#include "gpu-service/shader/semantics/memory_families.hpp"

namespace orrery::shader::semantics {

using ir::Builder;
using ir::Op;
using ir::Outcome;

namespace {

constexpr uint32_t kMemory = 1, kLds = 2;

Outcome wait(Builder& b, const Instruction& i) {
  // vmcnt is bits 3:0 and 15:14, lgkmcnt 13:8; all ones waits for nothing.
  const auto bits = static_cast<uint32_t>(i.immediate);
  const uint32_t vmcnt = (bits & 15) | ((bits >> 10) & 0x30), lgkmcnt = (bits >> 8) & 63;
  b.effect(Op::wave_wait, (vmcnt == 63 ? 0 : kMemory) | (lgkmcnt == 63 ? 0 : kLds));
  return {};
}
Outcome wait_lds(Builder& b, const Instruction&) {
  b.effect(Op::wave_wait, kLds);
  return {};
}
Outcome wait_memory(Builder& b, const Instruction&) {
  b.effect(Op::wave_wait, kMemory);
  return {};
}
Outcome nothing(Builder&, const Instruction&) { return {}; }
Outcome barrier(Builder& b, const Instruction&) {
  b.effect(Op::group_barrier);
  return {};
}
// The vector cache alone, which the waves of a group may not share: what they stored is seen from here on.
Outcome invalidate_nearest(Builder& b, const Instruction&) {
  b.effect(Op::memory_barrier, 1);
  return {};
}
// Caches behind it: what other groups stored as well.
Outcome invalidate(Builder& b, const Instruction&) {
  b.effect(Op::memory_barrier);
  return {};
}

Outcome wave_id(Builder& b, const Instruction& i) {
  b.set_sgpr(i.destination.index, b.op(Op::wave_id, ir::Type::u32, {}));
  return {};
}

// The address behind this instruction.
Outcome get_pc(Builder& b, const Instruction& i) {
  const ir::Value base =
      b.pack64(b.op(Op::code_address, ir::Type::u32, {}, 0), b.op(Op::code_address, ir::Type::u32, {}, 1));
  b.set_sgpr(i.destination.index, b.add(base, b.u64(i.offset + i.size)));
  return {};
}

}  // namespace

void add_ordering(ir::SemanticTable& table) {
  set(table, Opcode::s_getpc_b64, get_pc);
  // Calls leave the return address; where they go is the control-flow graph's.
  set(table, Opcode::s_swappc_b64, get_pc);
  set(table, Opcode::s_call_b64, get_pc);
  set(table, Opcode::s_waitcnt, wait);
  set(table, Opcode::s_waitcnt_vscnt, wait_memory);
  set(table, Opcode::s_waitcnt_vmcnt, wait_memory);
  set(table, Opcode::s_waitcnt_lgkmcnt, wait_lds);
  set(table, Opcode::s_waitcnt_expcnt, nothing);
  set(table, Opcode::s_barrier, barrier);
  set(table, Opcode::buffer_gl0_inv, invalidate_nearest);
  set(table, Opcode::buffer_gl1_inv, invalidate);
  set(table, Opcode::s_gl1_inv, invalidate);
  set(table, Opcode::s_dcache_inv, invalidate);
  // Scalar stores have left the scalar cache when it is written back.
  set(table, Opcode::s_dcache_wb, invalidate);
  set(table, Opcode::s_dcache_discard, nothing);
  set(table, Opcode::s_dcache_discard_x2, nothing);
  set(table, Opcode::s_atc_probe, nothing);
  set(table, Opcode::s_atc_probe_buffer, nothing);
  set(table, Opcode::s_icache_inv, nothing);
  set(table, Opcode::s_get_waveid_in_workgroup, wave_id);
}

}  // namespace orrery::shader::semantics
