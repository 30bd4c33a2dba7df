#include "gpu-service/shader/semantics/mode_flow.hpp"

#include <algorithm>

#include "gpu-service/shader/semantics/hardware_register.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr uint32_t kRegisters = 128;

bool writes_mode(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::s_round_mode:
    case Opcode::s_denorm_mode:
      return true;
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:
      return hardware_register(i).id == kMode;
    default:
      return false;
  }
}

// Which bits of MODE an instruction's value depends on.
uint32_t needs(const Instruction& i) {
  if (i.opcode == Opcode::s_getreg_b32) return 0;  // asks for itself
  switch (i.format) {
    case Format::vop1:
    case Format::vop2:
    case Format::vop3:
    case Format::vop3p:
    case Format::vopc:
      break;
    default:
      return 0;
  }
  const std::string_view name = mnemonic(i.opcode);
  auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  uint32_t bits = 0;
  if (has("f32") || has("u8")) bits |= 0x33;
  if (has("f16") || has("f64") || has("fma_mix")) bits |= 0xcc;
  return bits != 0 ? bits | 0x300 : 0;
}

}  // namespace

bool ModeFlow::State::join(const State& other) {
  if (!reached) {
    *this = other;
    return true;
  }
  bool changed = false;
  auto meet = [&](uint32_t& value, uint32_t& known, uint32_t other_value, uint32_t other_known) {
    const uint32_t both = known & other_known & ~(value ^ other_value);
    changed |= both != known;
    known = both;
    value &= both;
  };
  meet(mode, known, other.mode, other.known);
  for (uint32_t n = 0; n < kRegisters; ++n) {
    meet(registers[n].value, registers[n].known, other.registers[n].value, other.registers[n].known);
  }
  return changed;
}

void ModeFlow::apply(State& state, const Instruction& i) {
  auto set_mode = [&](HardwareRegister part, uint32_t value, uint32_t known) {
    const uint32_t field = part.mask() << part.offset, all = (1u << kModeBits) - 1;
    state.known = ((state.known & ~field) | (known << part.offset & field)) & all;
    state.mode = ((state.mode & ~field) | (value << part.offset & field)) & state.known;
  };
  auto value_of = [&](const Operand& operand) -> State::Register {
    if (operand.kind == OperandKind::constant || operand.kind == OperandKind::literal) return {operand.value, ~0u};
    if (operand.kind == OperandKind::sgpr && operand.index < kRegisters) return state.registers[operand.index];
    return {};
  };
  const auto immediate = static_cast<uint32_t>(i.immediate);
  const HardwareRegister part = hardware_register(i);
  State::Register result;
  switch (i.opcode) {
    case Opcode::s_round_mode:
      set_mode({kMode, 0, 4}, immediate, ~0u);
      break;
    case Opcode::s_denorm_mode:
      set_mode({kMode, 4, 4}, immediate, ~0u);
      break;
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:
      if (writes_mode(i)) {
        const State::Register from = value_of(i.sources[0]);
        set_mode(part, from.value, from.known);
      }
      break;
    case Opcode::s_getreg_b32:
      if (part.id == kMode) {
        result = {state.mode >> part.offset & part.mask(), (state.known >> part.offset) | ~part.mask()};
        result.value &= result.known;
      }
      break;
    case Opcode::s_mov_b32:
      result = value_of(i.sources[0]);
      break;
    case Opcode::s_movk_i32:
      result = {immediate, ~0u};
      break;
    case Opcode::s_and_b32:
    case Opcode::s_or_b32: {
      const State::Register x = value_of(i.sources[0]), y = value_of(i.sources[1]);
      if (i.opcode == Opcode::s_and_b32) {
        result = {x.value & y.value, (x.known & y.known) | (x.known & ~x.value) | (y.known & ~y.value)};
      } else {
        result = {x.value | y.value, (x.known & y.known) | (x.known & x.value) | (y.known & y.value)};
      }
      result.value &= result.known;
      break;
    }
    default:
      break;
  }
  for (const Operand* to : {&i.destination, &i.destination2}) {
    if (to->kind != OperandKind::sgpr) continue;
    const uint32_t dwords = std::max<uint32_t>(to->dwords, to->lane_mask ? 2 : 1);
    for (uint32_t n = to->index; n < std::min(to->index + dwords, kRegisters); ++n) {
      state.registers[n] = n == to->index && to == &i.destination ? result : State::Register{};
    }
  }
  // What writes registers that no destination names: relative moves.
  if (i.opcode == Opcode::s_movreld_b32 || i.opcode == Opcode::s_movreld_b64 || i.opcode == Opcode::s_movrelsd_2_b32) {
    std::ranges::fill(state.registers, State::Register{});
  }
}

ModeFlow::ModeFlow(const Program& program, const cfg::StructuredGraph& graph, uint32_t rsrc1) {
  now_.mode = ir::FloatMode::of_rsrc1(rsrc1).bits;
  if (std::ranges::none_of(program.instructions, writes_mode)) return;
  now_.registers.resize(kRegisters);
  now_.reached = true;
  starts_.resize(graph.blocks.size());
  starts_[0] = now_;
  std::vector<uint32_t> open{0};
  while (!open.empty()) {
    const uint32_t block = open.back();
    open.pop_back();
    State state = starts_[block];
    const cfg::StructuredBlock& b = graph.blocks[block];
    for (uint32_t n = b.first; n < b.first + b.count; ++n) apply(state, program.instructions[n]);
    for (const uint32_t target : b.targets) {
      if (starts_[target].join(state)) open.push_back(target);
    }
  }
}

void ModeFlow::enter(uint32_t block) {
  if (!starts_.empty()) now_ = starts_[block];
}

void ModeFlow::pass(const Instruction& instruction) {
  if (!starts_.empty() && now_.reached) apply(now_, instruction);
}

std::optional<std::string> ModeFlow::refusal(const Instruction& i) const {
  uint32_t wanted = needs(i);
  if (const HardwareRegister part = hardware_register(i); i.opcode == Opcode::s_getreg_b32 && part.id == kMode) {
    // Saved and written back it is followed; any other use would see bits that are not known.
    wanted = part.mask() << part.offset & ((1u << kModeBits) - 1);
  }
  if ((wanted & ~now_.known) == 0) return std::nullopt;
  return "MODE is not known here: it was written from a register, or differs by the way that led here";
}

}  // namespace orrery::shader::semantics
