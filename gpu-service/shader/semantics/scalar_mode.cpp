// The MODE register and what else scalar instructions say about how to run.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

// Operand of s_getreg and s_setreg: register in 5:0, first bit in 10:6, width less one in 15:11.
struct HardwareRegister {
  uint32_t id, offset, width;
};
HardwareRegister hardware_register(const Instruction& i) {
  const auto bits = static_cast<uint32_t>(i.immediate);
  return {bits & 63, bits >> 6 & 31, (bits >> 11 & 31) + 1};
}
constexpr uint32_t kMode = 1, kFlatScratchLow = 20, kFlatScratchHigh = 21;
constexpr uint32_t kRoundBits = 4, kFloatModeBits = 8;  // MODE: FP_ROUND 3:0, FP_DENORM 7:4

constexpr uint32_t float_mode(uint32_t rsrc1) { return rsrc1 >> 12 & 0xff; }

// Denormals are kept in every mode: code that switches them on for a division gets what it wants, and code that runs
// with them off may see tiny numbers where the console has zeros.
Outcome set_denormals(Builder&, const Instruction&) { return {}; }

Outcome set_rounding(Builder&, const Instruction& i) {
  if ((i.immediate & 15) != 0) return refuse("rounding other than to nearest even");
  return {};
}

Outcome set_register(Builder& b, const Instruction& i) {
  const HardwareRegister to = hardware_register(i);
  // Where private memory lies is the module's own business; guest code only says where it would be on the console.
  if ((to.id == kFlatScratchLow || to.id == kFlatScratchHigh) && to.width == 32) return {};
  if (to.id != kMode) return refuse("hardware register " + std::to_string(to.id));
  if (to.offset + to.width > kFloatModeBits) return refuse("MODE bits other than round and denormal");
  if (to.offset >= kRoundBits) return {};
  uint64_t value = 0;
  const Value v = scalar(b, i, 0);
  if (!b.is_constant(v, value)) return refuse("rounding mode that is not a constant");
  value = value << to.offset & ((1u << kRoundBits) - 1);
  if (value != 0) return refuse("rounding other than to nearest even");
  return {};
}

Outcome get_register(Builder& b, const Instruction& i) {
  const HardwareRegister from = hardware_register(i);
  if (from.id != kMode || from.offset + from.width > kFloatModeBits) {
    return refuse("hardware register " + std::to_string(from.id));
  }
  const uint32_t mode = float_mode(b.options().rsrc1) >> from.offset;
  scalar_result(b, i, b.u32(from.width == 32 ? mode : mode & ((1u << from.width) - 1)));
  return {};
}

// Hints for the hardware's scheduler and caches: they change no value.
Outcome nothing(Builder&, const Instruction&) { return {}; }

}  // namespace

void add_scalar_mode(SemanticTable& t) {
  set(t, Opcode::s_denorm_mode, set_denormals);
  set(t, Opcode::s_round_mode, set_rounding);
  set(t, Opcode::s_setreg_b32, set_register);
  set(t, Opcode::s_setreg_imm32_b32, set_register);
  set(t, Opcode::s_getreg_b32, get_register);
  for (Opcode hint : {Opcode::s_clause, Opcode::s_inst_prefetch, Opcode::s_setprio, Opcode::s_sleep, Opcode::s_wakeup,
                      Opcode::s_icache_inv, Opcode::s_incperflevel, Opcode::s_decperflevel, Opcode::s_ttracedata,
                      Opcode::s_ttracedata_imm, Opcode::s_version, Opcode::s_waitcnt_depctr, Opcode::s_waitcnt_expcnt,
                      Opcode::v_nop, Opcode::v_pipeflush, Opcode::v_clrexcp}) {
    set(t, hint, nothing);
  }
}

}  // namespace orrery::shader::semantics
