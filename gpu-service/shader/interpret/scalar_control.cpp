// SOPK, SOPP, and the jumps of SOP1: branches, waits, hardware registers.
#include <fmt/format.h>

#include "gpu-service/shader/interpret/engine.hpp"
#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {
namespace {

void nothing(Wave&, const Step&) {}
void end(Wave& wave, const Step&) { wave.stop = Stop::ended; }
void barrier(Wave& wave, const Step&) {
  if (wave.waves_in_group > 1) {
    wave.stop = Stop::barrier;
  }
}

template <auto Condition>
void branch(Wave& wave, const Step& step) {
  if (Condition(wave)) {
    wave.next = step.target;
  }
}

// Jumps to a guest address.
void jump(Wave& wave, const Step& step, uint64_t address) {
  const uint64_t offset = address - wave.dispatch->program_address;
  if ((offset & 3) != 0 || static_cast<int64_t>(offset) != static_cast<int32_t>(offset)) {
    wave.refuse(step, fmt::format("jumps to {:#x}, far from the program", address));
    return;
  }
  const auto target = wave.engine->step_at(static_cast<uint32_t>(offset));
  if (!target) {
    wave.refuse(step, fmt::format("jumps to {:#x}: {}", address, target.error()));
    return;
  }
  wave.next = *target;
}
// Offsets may lie in front of the program: callees do.
uint64_t address_behind(const Wave& wave, const Step& step) {
  return wave.dispatch->program_address +
         static_cast<uint64_t>(int64_t{static_cast<int32_t>(step.offset() + step.instruction->size)});
}
void set_pc(Wave& wave, const Step& step) { jump(wave, step, scalar64(wave, step.sources[0])); }
void swap_pc(Wave& wave, const Step& step) {
  const uint64_t target = scalar64(wave, step.sources[0]);
  wave.set_pair(step.destination, address_behind(wave, step));
  jump(wave, step, target);
}
void get_pc(Wave& wave, const Step& step) { wave.set_pair(step.destination, address_behind(wave, step)); }
void call(Wave& wave, const Step& step) {
  wave.set_pair(step.destination, address_behind(wave, step));
  wave.next = step.target;
}

// hwreg(id, offset, size) of SIMM16. Registers: ISA document, "Hardware registers".
struct HardwareRegister {
  uint32_t id, offset, mask;
};
HardwareRegister hardware_register(const Step& step) {
  const auto bits = static_cast<uint32_t>(step.instruction->immediate);
  const uint32_t size = (bits >> 11 & 31) + 1;
  return {bits & 63, bits >> 6 & 31, size == 32 ? ~0u : (1u << size) - 1};
}
constexpr uint32_t kMode = 1, kMemoryBases = 15, kFlatScratchLow = 20, kFlatScratchHigh = 21;

void get_register(Wave& wave, const Step& step) {
  const HardwareRegister reg = hardware_register(step);
  uint32_t value = 0;
  switch (reg.id) {
    case kMode:
      value = wave.mode;
      break;
    case kMemoryBases:
      value = static_cast<uint32_t>(kPrivateAperture >> 48) | static_cast<uint32_t>(kSharedAperture >> 48) << 16;
      break;
    case kFlatScratchLow:
      value = static_cast<uint32_t>(wave.flat_scratch);
      break;
    case kFlatScratchHigh:
      value = static_cast<uint32_t>(wave.flat_scratch >> 32);
      break;
    default:
      wave.refuse(step, fmt::format("hardware register {} is not modelled", reg.id));
      return;
  }
  wave.set(step.destination, value >> reg.offset & reg.mask);
}
void set_register(Wave& wave, const Step& step) {
  const HardwareRegister reg = hardware_register(step);
  const uint32_t mask = reg.mask << reg.offset, value = scalar32(wave, step.sources[0]) << reg.offset & mask;
  switch (reg.id) {
    case kMode:
      wave.mode = (wave.mode & ~mask) | value;
      break;
    case kFlatScratchLow:
      wave.flat_scratch = (wave.flat_scratch & ~uint64_t{mask}) | value;
      break;
    case kFlatScratchHigh:
      wave.flat_scratch = (wave.flat_scratch & ~(uint64_t{mask} << 32)) | uint64_t{value} << 32;
      break;
    default:
      wave.refuse(step, fmt::format("hardware register {} is not modelled", reg.id));
      return;
  }
}
void round_mode(Wave& wave, const Step& step) {
  wave.mode = (wave.mode & ~15u) | (static_cast<uint32_t>(step.instruction->immediate) & 15);
}
void denormal_mode(Wave& wave, const Step& step) {
  wave.mode = (wave.mode & ~0xf0u) | (static_cast<uint32_t>(step.instruction->immediate) & 15) << 4;
}

uint32_t immediate(const Step& step) { return static_cast<uint32_t>(step.instruction->immediate); }
void move_constant(Wave& wave, const Step& step) { wave.set(step.destination, immediate(step)); }
void conditional_move_constant(Wave& wave, const Step& step) {
  if (wave.scc) {
    wave.set(step.destination, immediate(step));
  }
}
void add_constant(Wave& wave, const Step& step) {
  int32_t result = 0;
  wave.scc =
      __builtin_add_overflow(static_cast<int32_t>(wave.sgpr[step.destination]), step.instruction->immediate, &result);
  wave.set(step.destination, static_cast<uint32_t>(result));
}
void multiply_constant(Wave& wave, const Step& step) {
  wave.set(step.destination, wave.sgpr[step.destination] * immediate(step));
}
template <class T, auto F>
void compare_constant(Wave& wave, const Step& step) {
  wave.scc = F(static_cast<T>(scalar32(wave, step.sources[0])), static_cast<T>(step.instruction->immediate));
}

Handler constant_handler(Opcode opcode) {
  using u32 = uint32_t;
  using i32 = int32_t;
  switch (opcode) {
    case Opcode::s_movk_i32:
      return move_constant;
    case Opcode::s_cmovk_i32:
      return conditional_move_constant;
    case Opcode::s_addk_i32:
      return add_constant;
    case Opcode::s_mulk_i32:
      return multiply_constant;
    case Opcode::s_cmpk_eq_i32:
      return compare_constant<i32, ([](i32 a, i32 b) { return a == b; })>;
    case Opcode::s_cmpk_lg_i32:
      return compare_constant<i32, ([](i32 a, i32 b) { return a != b; })>;
    case Opcode::s_cmpk_gt_i32:
      return compare_constant<i32, ([](i32 a, i32 b) { return a > b; })>;
    case Opcode::s_cmpk_ge_i32:
      return compare_constant<i32, ([](i32 a, i32 b) { return a >= b; })>;
    case Opcode::s_cmpk_lt_i32:
      return compare_constant<i32, ([](i32 a, i32 b) { return a < b; })>;
    case Opcode::s_cmpk_le_i32:
      return compare_constant<i32, ([](i32 a, i32 b) { return a <= b; })>;
    case Opcode::s_cmpk_eq_u32:
      return compare_constant<u32, ([](u32 a, u32 b) { return a == b; })>;
    case Opcode::s_cmpk_lg_u32:
      return compare_constant<u32, ([](u32 a, u32 b) { return a != b; })>;
    case Opcode::s_cmpk_gt_u32:
      return compare_constant<u32, ([](u32 a, u32 b) { return a > b; })>;
    case Opcode::s_cmpk_ge_u32:
      return compare_constant<u32, ([](u32 a, u32 b) { return a >= b; })>;
    case Opcode::s_cmpk_lt_u32:
      return compare_constant<u32, ([](u32 a, u32 b) { return a < b; })>;
    case Opcode::s_cmpk_le_u32:
      return compare_constant<u32, ([](u32 a, u32 b) { return a <= b; })>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler scalar_control_handler(const Instruction& instruction) {
  if (const Handler handler = constant_handler(instruction.opcode)) {
    return handler;
  }
  switch (instruction.opcode) {
    // Memory is in order here, so waits and caches have nothing to do.
    case Opcode::s_nop:
    case Opcode::s_waitcnt:
    case Opcode::s_waitcnt_vscnt:
    case Opcode::s_waitcnt_vmcnt:
    case Opcode::s_waitcnt_expcnt:
    case Opcode::s_waitcnt_lgkmcnt:
    case Opcode::s_waitcnt_depctr:
    case Opcode::s_wait_idle:
    case Opcode::s_clause:
    case Opcode::s_inst_prefetch:
    case Opcode::s_icache_inv:
    case Opcode::s_sleep:
    case Opcode::s_setprio:
    case Opcode::s_incperflevel:
    case Opcode::s_decperflevel:
    case Opcode::s_ttracedata:
    case Opcode::s_ttracedata_imm:
    case Opcode::s_version:
    case Opcode::s_wakeup:
      return nothing;
    case Opcode::s_endpgm:
    case Opcode::s_endpgm_saved:
      return end;
    case Opcode::s_barrier:
      return barrier;
    case Opcode::s_branch:
      return branch<([](const Wave&) { return true; })>;
    case Opcode::s_cbranch_scc0:
      return branch<([](const Wave& wave) { return !wave.scc; })>;
    case Opcode::s_cbranch_scc1:
      return branch<([](const Wave& wave) { return wave.scc; })>;
    case Opcode::s_cbranch_vccz:
      return branch<([](const Wave& wave) { return wave.mask(kVcc) == 0; })>;
    case Opcode::s_cbranch_vccnz:
      return branch<([](const Wave& wave) { return wave.mask(kVcc) != 0; })>;
    case Opcode::s_cbranch_execz:
      return branch<([](const Wave& wave) { return wave.exec() == 0; })>;
    case Opcode::s_cbranch_execnz:
      return branch<([](const Wave& wave) { return wave.exec() != 0; })>;
    // No debugger is attached.
    case Opcode::s_cbranch_cdbgsys:
    case Opcode::s_cbranch_cdbguser:
    case Opcode::s_cbranch_cdbgsys_or_user:
    case Opcode::s_cbranch_cdbgsys_and_user:
      return nothing;
    case Opcode::s_setpc_b64:
      return set_pc;
    case Opcode::s_swappc_b64:
      return swap_pc;
    case Opcode::s_getpc_b64:
      return get_pc;
    case Opcode::s_call_b64:
      return call;
    case Opcode::s_getreg_b32:
      return get_register;
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:
      return set_register;
    case Opcode::s_round_mode:
      return round_mode;
    case Opcode::s_denorm_mode:
      return denormal_mode;
    default:
      return nullptr;
  }
}

}  // namespace orrery::shader::interpret
