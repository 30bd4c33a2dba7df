// The MODE register and what else scalar instructions say about how to run.
#include "gpu-service/shader/ir/dpp.hpp"
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/hardware_register.hpp"
#include "gpu-service/shader/semantics/mode_flow.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr uint32_t kMemoryBases = 15, kFlatScratchLow = 20, kFlatScratchHigh = 21;

// What MODE becomes is known before the translation (mode_flow.hpp); an instruction that needs bits which are not known
// is refused there.
Outcome nothing(Builder&, const Instruction&) { return {}; }

Outcome set_register(Builder&, const Instruction& i) {
  const HardwareRegister to = hardware_register(i);
  // Where private memory lies is the module's own business; guest code only says where it would be on the console.
  if ((to.id == kFlatScratchLow || to.id == kFlatScratchHigh) && to.width == 32) return {};
  if (to.id != kMode) return refuse("writes hardware register " + std::to_string(to.id));
  return {};
}

Outcome get_register(Builder& b, const Instruction& i) {
  const HardwareRegister from = hardware_register(i);
  uint32_t value = 0;
  if (from.id == kMode) {
    if (from.offset + from.width > kModeBits && from.width < 32) return refuse("MODE bits beyond IEEE");
    value = b.mode().bits;
  } else if (from.id == kMemoryBases) {
    value = static_cast<uint32_t>(ir::kPrivateAperture >> 48) | static_cast<uint32_t>(ir::kSharedAperture >> 48) << 16;
  } else {
    return refuse("reads hardware register " + std::to_string(from.id));
  }
  value >>= from.offset;
  scalar_result(b, i, b.u32(value & from.mask()));
  return {};
}

Outcome wait_idle(Builder& b, const Instruction&) {
  b.effect(Op::wave_wait, 3);
  return {};
}

// What acts on more than the wave's registers and memory.
Outcome send_message(Builder&, const Instruction& i) {
  return refuse("sends message " + std::to_string(i.immediate & 15));
}
Outcome trap(Builder&, const Instruction& i) {
  return refuse("enters trap handler " + std::to_string(i.immediate & 255));
}
Outcome halt(Builder&, const Instruction& i) {
  if ((i.immediate & 1) == 0) return {};
  return refuse("halts the wave until a debugger lets it go");
}
Outcome kill(Builder&, const Instruction& i) {
  if ((i.immediate & 1) == 0) return {};
  return refuse("kills the wave");
}
Outcome privileged(Builder&, const Instruction&) { return refuse("returns from a trap handler"); }
Outcome subvector(Builder&, const Instruction&) { return refuse("runs a wave64 in two halves (subvector loop)"); }

}  // namespace

void add_scalar_mode(SemanticTable& t) {
  set(t, Opcode::s_denorm_mode, nothing);
  set(t, Opcode::s_round_mode, nothing);
  set(t, Opcode::s_setreg_b32, set_register);
  set(t, Opcode::s_setreg_imm32_b32, set_register);
  set(t, Opcode::s_getreg_b32, get_register);
  set(t, Opcode::s_wait_idle, wait_idle);
  set(t, Opcode::s_sendmsghalt, send_message);
  set(t, Opcode::s_trap, trap);
  set(t, Opcode::s_sethalt, halt);
  set(t, Opcode::s_setkill, kill);
  set(t, Opcode::s_rfe_b64, privileged);
  set(t, Opcode::s_subvector_loop_begin, subvector);
  set(t, Opcode::s_subvector_loop_end, subvector);
  // Hints for the hardware's scheduler and caches: they change no value.
  for (Opcode hint : {Opcode::s_clause, Opcode::s_inst_prefetch, Opcode::s_setprio, Opcode::s_sleep, Opcode::s_wakeup,
                      Opcode::s_icache_inv, Opcode::s_incperflevel, Opcode::s_decperflevel, Opcode::s_ttracedata,
                      Opcode::s_ttracedata_imm, Opcode::s_version, Opcode::s_waitcnt_depctr, Opcode::s_waitcnt_expcnt,
                      Opcode::v_nop, Opcode::v_pipeflush, Opcode::v_clrexcp}) {
    set(t, hint, nothing);
  }
}

}  // namespace orrery::shader::semantics
