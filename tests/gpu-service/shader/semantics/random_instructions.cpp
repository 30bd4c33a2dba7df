#include "tests/gpu-service/shader/semantics/random_instructions.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "gpu-service/shader/decode/decoder.hpp"
#include "gpu-service/shader/semantics/table.hpp"

namespace orrery::shader::semantics::test {
namespace {

uint32_t pick(std::mt19937& random, uint32_t count) { return static_cast<uint32_t>(random() % count); }

struct Encoding {
  Format format;
  uint32_t mask, bits;  // of the first word
};
constexpr Encoding kEncodings[] = {
    {Format::sop1, 0xff800000, 0xbe800000},  {Format::sop2, 0xc0000000, 0x80000000},
    {Format::sopc, 0xff800000, 0xbf000000},  {Format::sopk, 0xf0000000, 0xb0000000},
    {Format::vop1, 0xfe000000, 0x7e000000},  {Format::vop2, 0x80000000, 0x00000000},
    {Format::vopc, 0xfe000000, 0x7c000000},  {Format::vop3, 0xfc000000, 0xd4000000},
    {Format::vop3p, 0xff800000, 0xcc000000},
};

// Reasons: writes more than the tests look at; changes how the wave runs; control flow; the interpreter knows the
// value and the bare instruction here does not (program counter); means something in pixel shaders only.
bool excluded(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::v_swap_b32:
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:
    case Opcode::s_getreg_b32:
    case Opcode::s_getpc_b64:
    case Opcode::s_swappc_b64:
    case Opcode::s_call_b64:
    case Opcode::s_setpc_b64:
    case Opcode::s_version:
    case Opcode::v_interp_p1_f32:
    case Opcode::v_interp_p2_f32:
    case Opcode::v_interp_mov_f32:
      return true;
    default:
      return mnemonic(i.opcode).starts_with("s_waitcnt") || i.format == Format::sopp;
  }
}

bool is_special_register(uint32_t index, uint32_t dwords) {
  return index == 106 || index == 126 || (index == 125 && dwords == 1) || (index == 124 && dwords == 1) ||
         (dwords == 1 && (index == 107 || index == 127));
}

// False: the form reads what these tests do not have.
bool place_source(std::mt19937& random, Operand& operand, uint32_t wave) {
  const uint32_t dwords = operand.lane_mask ? wave / 32 : operand.dwords;
  switch (operand.kind) {
    case OperandKind::vgpr:
      operand.index = static_cast<uint16_t>(operand.index % (kFirstWritten + 1 - dwords));
      return true;
    case OperandKind::sgpr:
      if (wave == 32 && (operand.index == 107 || operand.index == 127)) return false;
      if (!is_special_register(operand.index, dwords)) {
        operand.index = static_cast<uint16_t>(operand.index % 12 & ~(dwords - 1));
      } else if (wave == 32 && dwords == 2) {
        operand.index = static_cast<uint16_t>(pick(random, 6) * 2);
      }
      return true;
    case OperandKind::special:
      return operand.index >= 251 && operand.index <= 253;
    default:
      return true;
  }
}

bool place_destination(Operand& operand, uint32_t wave) {
  const uint32_t dwords = operand.lane_mask ? wave / 32 : operand.dwords;
  if (operand.kind == OperandKind::vgpr) operand.index = kFirstWritten;
  if (operand.kind != OperandKind::sgpr) return true;
  if (wave == 32 && (operand.index == 107 || operand.index == 127 || (dwords == 2 && operand.index > 105)))
    return false;
  if (!is_special_register(operand.index, dwords)) operand.index = kFirstWrittenSgpr;
  return true;
}

}  // namespace

std::vector<Instruction> random_instructions(std::mt19937& random, uint32_t per_opcode, uint32_t wave) {
  std::vector<Instruction> made;
  std::map<std::pair<Opcode, Format>, uint32_t> count;
  constexpr uint32_t kTries = 40000;
  for (const Encoding& encoding : kEncodings) {
    for (uint32_t n = 0; n < kTries; ++n) {
      std::array<uint32_t, 5> words;
      for (uint32_t& word : words) word = static_cast<uint32_t>(random());
      words[0] = (words[0] & ~encoding.mask) | encoding.bits;
      // Every other VOP1/2/C in SDWA or DPP form.
      constexpr uint32_t kForms[] = {249, 250, 233};
      if (encoding.format <= Format::vopc && encoding.format >= Format::vop1 && pick(random, 3) == 0) {
        words[0] = (words[0] & ~0x1ffu) | kForms[pick(random, 3)];
      }
      // VOP3: mostly registers that exist, few of the modifiers that are refused.
      auto decoded = decode(words, 0, pick(random, 2) == 0 ? Target::gfx1030 : Target::gfx1013);
      if (!decoded || decoded->format != encoding.format) continue;
      Instruction& i = *decoded;
      if (semantic_table()[static_cast<size_t>(i.opcode)] == nullptr || excluded(i)) continue;
      if (count[{i.opcode, i.format}] >= per_opcode) continue;
      bool usable = place_destination(i.destination, wave) && place_destination(i.destination2, wave);
      for (uint32_t s = 0; s < i.source_count; ++s) usable = usable && place_source(random, i.sources[s], wave);
      // Both results in one register.
      if (i.destination2.kind == OperandKind::sgpr && i.destination.kind == OperandKind::sgpr) usable = false;
      for (uint32_t s = 0; s < i.source_count; ++s) {
        const OperandKind kind = i.sources[s].kind;
        const bool constant =
            kind == OperandKind::constant || kind == OperandKind::literal || kind == OperandKind::special;
        // No assembler writes these: parts of constants.
        if (constant && i.sdwa.present) usable = false;
        if (constant && i.format == Format::vop3) i.op_select &= static_cast<uint8_t>(~(1u << s));
      }
      if (!usable) continue;
      ++count[{i.opcode, i.format}];
      made.push_back(i);
    }
  }
  return made;
}

Values values_of(const Instruction& instruction) {
  const std::string_view name = mnemonic(instruction.opcode);
  if (name.find("f64") != name.npos) return Values::f64;
  if (name.find("f16") != name.npos) return Values::f16;
  if (name.find("f32") != name.npos) return Values::f32;
  return Values::bits;
}

}  // namespace orrery::shader::semantics::test
