#include "gpu-service/shader/cfg/computed_jump.hpp"

#include "gpu-service/shader/translate.hpp"

namespace orrery::shader::cfg {
namespace {

constexpr size_t kFarthest = 32;  // instructions between s_getpc and the jump

bool is_register(const Operand& operand, uint32_t sgpr) {
  return operand.kind == OperandKind::sgpr && operand.index == sgpr;
}
bool is_number(const Operand& operand) {
  return operand.kind == OperandKind::literal || (operand.kind == OperandKind::constant && !operand.inline_float);
}

bool leaves_straight_code(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_branch:
    case Opcode::s_cbranch_scc0:
    case Opcode::s_cbranch_scc1:
    case Opcode::s_cbranch_vccz:
    case Opcode::s_cbranch_vccnz:
    case Opcode::s_cbranch_execz:
    case Opcode::s_cbranch_execnz:
    case Opcode::s_setpc_b64:
    case Opcode::s_swappc_b64:
    case Opcode::s_call_b64:
    case Opcode::s_endpgm:
      return true;
    default:
      return false;
  }
}

// The constant that a step of the 64-bit addition adds to `sgpr`, if it is one.
std::optional<uint32_t> added(const Instruction& step, Opcode opcode, uint32_t sgpr) {
  if (step.opcode != opcode || !is_register(step.destination, sgpr)) return std::nullopt;
  for (size_t n = 0; n < 2; ++n) {
    if (is_register(step.sources[n], sgpr) && is_number(step.sources[1 - n])) return step.sources[1 - n].value;
  }
  return std::nullopt;
}

bool writes(const Operand& operand, uint32_t sgpr) {
  return operand.kind == OperandKind::sgpr && operand.index <= sgpr + 1 && operand.index + operand.dwords > sgpr;
}

}  // namespace

bool writes_pair(const Instruction& instruction, uint32_t sgpr) {
  return writes(instruction.destination, sgpr) || writes(instruction.destination2, sgpr);
}

std::optional<TracedJump> trace_jump(std::span<const Instruction> code) {
  if (code.empty()) return std::nullopt;
  const Instruction& jump = code.back();
  if (jump.sources[0].kind != OperandKind::sgpr) return std::nullopt;
  const uint32_t low = jump.sources[0].index;
  size_t start = code.size() - 1;
  for (size_t steps = 0;; ++steps) {
    if (start == 0 || steps == kFarthest) return std::nullopt;
    const Instruction& here = code[start - 1];
    if (here.offset + here.size != code[start].offset || leaves_straight_code(here.opcode)) return std::nullopt;
    --start;
    if (here.opcode == Opcode::s_getpc_b64 && is_register(here.destination, low)) break;
  }
  std::optional<uint32_t> low_part, high_part;
  for (size_t n = start + 1; n + 1 < code.size(); ++n) {
    const Instruction& here = code[n];
    if (!writes_pair(here, low)) continue;
    if (auto part = added(here, Opcode::s_add_u32, low); part && !low_part) {
      low_part = part;
    } else if (part = added(here, Opcode::s_addc_u32, low + 1); part && low_part && !high_part) {
      high_part = part;
    } else {
      return std::nullopt;
    }
  }
  if (low_part.has_value() != high_part.has_value()) return std::nullopt;
  const auto distance = static_cast<int64_t>(uint64_t{high_part.value_or(0)} << 32 | low_part.value_or(0));
  const int64_t target = int64_t{code[start].offset} + code[start].size + distance;
  if (target < 0 || target >= kMaxProgramBytes || target % 4 != 0) return std::nullopt;
  return TracedJump{static_cast<uint32_t>(start), static_cast<uint32_t>(target)};
}

}  // namespace orrery::shader::cfg
