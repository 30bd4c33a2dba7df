#include "gpu-service/shader/decode/text.hpp"

#include <fmt/format.h>

#include "gpu-service/shader/decode/encoding.hpp"
#include "gpu-service/shader/decode/operands.hpp"

namespace orrery::shader {

using table::Entry;
using table::Slot;
namespace flags = table::flags;

namespace {

// "op_sel:[1,0]" of the low `count` bits.
std::string bit_list(std::string_view name, uint32_t value, unsigned count) {
  std::string text = fmt::format(" {}:[", name);
  for (unsigned i = 0; i < count; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ",", value >> i & 1);
  }
  return text + "]";
}

void append_output_modifiers(std::string& text, const Instruction& instruction) {
  constexpr const char* kOmod[] = {"", " mul:2", " mul:4", " div:2"};
  if (instruction.clamp) {
    text += " clamp";
  }
  text += kOmod[instruction.output_modifier];
}

void append_sdwa(std::string& text, const Instruction& instruction) {
  constexpr const char* kSelect[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  constexpr const char* kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  if (instruction.format != Format::vopc) {
    text += fmt::format(" dst_sel:{} dst_unused:{}", kSelect[static_cast<size_t>(instruction.sdwa.destination)],
                        kUnused[instruction.sdwa.unused]);
  }
  text += fmt::format(" src0_sel:{}", kSelect[static_cast<size_t>(instruction.sources[0].select)]);
  if (instruction.format != Format::vop1) {
    text += fmt::format(" src1_sel:{}", kSelect[static_cast<size_t>(instruction.sources[1].select)]);
  }
}

void append_dpp(std::string& text, const Dpp& dpp) {
  if (dpp.kind == Dpp::Kind::dpp8) {
    text += " dpp8:[";
    for (unsigned lane = 0; lane < 8; ++lane) {
      text += fmt::format("{}{}", lane == 0 ? "" : ",", dpp.lanes >> (3 * lane) & 7);
    }
    text += dpp.fetch_inactive ? "] fi:1" : "]";
    return;
  }
  const uint32_t control = dpp.control, amount = control & 15;
  if (control <= 0xff) {
    text += fmt::format(" quad_perm:[{},{},{},{}]", control & 3, control >> 2 & 3, control >> 4 & 3, control >> 6 & 3);
  } else if (control == 0x140) {
    text += " row_mirror";
  } else if (control == 0x141) {
    text += " row_half_mirror";
  } else {
    constexpr const char* kNames[] = {"row_shl", "row_shr", "row_ror"};
    const char* name = control >= 0x160 ? "row_xmask" : control >= 0x150 ? "row_share" : kNames[(control >> 4) - 0x10];
    text += fmt::format(" {}:{}", name, amount);
  }
  text += fmt::format(" row_mask:0x{:x} bank_mask:0x{:x}", dpp.row_mask, dpp.bank_mask);
  text += dpp.bound_control ? " bound_ctrl:1" : "";
  text += dpp.fetch_inactive ? " fi:1" : "";
}

void append_packed(std::string& text, const Instruction& instruction) {
  const unsigned count = instruction.source_count;
  const uint32_t all = (1u << count) - 1;
  uint32_t negate = 0, negate_high = 0;
  for (unsigned i = 0; i < count; ++i) {
    negate |= instruction.sources[i].negate ? 1u << i : 0;
    negate_high |= instruction.sources[i].negate_high ? 1u << i : 0;
  }
  const bool mixed = mnemonic(instruction.opcode).starts_with("v_fma_mix");
  if (instruction.op_select != 0) {
    text += bit_list("op_sel", instruction.op_select, count);
  }
  if (instruction.op_select_high != (mixed ? 0 : all)) {
    text += bit_list("op_sel_hi", instruction.op_select_high, count);
  }
  if (negate != 0 && !mixed) {
    text += bit_list("neg_lo", negate, count);
  }
  if (negate_high != 0) {
    text += bit_list("neg_hi", negate_high, count);
  }
}

void append_long_op_sel(std::string& text, const Instruction& instruction, const Entry& entry) {
  if (instruction.op_select == 0) {
    return;
  }
  // One entry per source, then the result's (bit 3); v_permlane has two, of other meaning.
  const bool result = (entry.flags & flags::op_sel(8)) != 0;
  const unsigned count = result ? instruction.source_count : 2u;
  const uint32_t sources = instruction.op_select & ((1u << count) - 1);
  text += result ? bit_list("op_sel", sources | (instruction.op_select >> 3 & 1u) << count, count + 1)
                 : bit_list("op_sel", sources, count);
}

void vector(std::string& text, const Instruction& instruction, const Entry& entry, uint32_t wave) {
  if (entry.destination != Slot::none && entry.destination != Slot::exec) {
    text::append(text, text::operand(instruction.destination, entry.destination, wave));
  }
  if (entry.destination2 != Slot::none) {
    text::append(text, text::operand(instruction.destination2, entry.destination2, wave));
  }
  const bool packed = instruction.format == Format::vop3p;
  for (unsigned i = 0; i < instruction.source_count; ++i) {
    Operand source = instruction.sources[i];
    if (packed && !mnemonic(instruction.opcode).starts_with("v_fma_mix")) {
      source.negate = false;  // written as neg_lo
    }
    text::append(text, text::modified(source, source_slot(instruction, entry, i), wave));
  }
  if (packed) {
    append_packed(text, instruction);
  } else if (instruction.format == Format::vop3) {
    append_long_op_sel(text, instruction, entry);
  }
  append_output_modifiers(text, instruction);
  if (instruction.sdwa.present) {
    append_sdwa(text, instruction);
  }
  if (instruction.dpp.kind != Dpp::Kind::none) {
    append_dpp(text, instruction.dpp);
  }
}

void append_waits(std::string& text, int32_t immediate) {
  const auto bits16 = static_cast<uint32_t>(immediate);
  const uint32_t vm = bits(bits16, 0, 4) | bits(bits16, 14, 2) << 4, exp = bits(bits16, 4, 3),
                 lgkm = bits(bits16, 8, 6);
  // A counter that is not waited for holds its maximum; when none is, all are written.
  const bool all = vm == 63 && exp == 7 && lgkm == 63;
  text += vm != 63 || all ? fmt::format(" vmcnt({})", vm) : "";
  text += exp != 7 || all ? fmt::format(" expcnt({})", exp) : "";
  text += lgkm != 63 || all ? fmt::format(" lgkmcnt({})", lgkm) : "";
}

void scalar_program(std::string& text, const Instruction& instruction, const Entry& entry) {
  if ((entry.flags & flags::branch) != 0) {
    text += fmt::format(" {}", static_cast<uint16_t>(instruction.immediate));
    return;
  }
  switch (instruction.opcode) {
    case Opcode::s_waitcnt:
      append_waits(text, instruction.immediate);
      return;
    case Opcode::s_endpgm:
      text += instruction.immediate == 0 ? "" : fmt::format(" {}", instruction.immediate);
      return;
    case Opcode::s_inst_prefetch:
    case Opcode::s_clause:
    case Opcode::s_round_mode:
    case Opcode::s_ttracedata_imm:
      text += fmt::format(" 0x{:x}", instruction.immediate);
      return;
    default:
      if ((entry.flags & flags::imm) != 0) {
        text += " " + text::immediate16(instruction.immediate);
      }
  }
}

void scalar_constant(std::string& text, const Instruction& instruction, uint32_t wave) {
  const bool has_register = instruction.destination.kind != OperandKind::none;
  const Operand& reg = has_register ? instruction.destination : instruction.sources[0];
  const std::string immediate = fmt::format("0x{:x}", static_cast<uint16_t>(instruction.immediate));
  switch (instruction.opcode) {
    case Opcode::s_setreg_imm32_b32:
      text::append(text, immediate);
      text::append(text, text::operand(reg, Slot::c1, wave));
      return;
    case Opcode::s_setreg_b32:
      text::append(text, immediate);
      text::append(text, text::operand(reg, Slot::s1, wave));
      return;
    case Opcode::s_version:
      text::append(text, immediate);
      return;
    case Opcode::s_call_b64:
    case Opcode::s_subvector_loop_begin:
    case Opcode::s_subvector_loop_end:
      text::append(text, text::operand(reg, Slot::s1, wave));
      text::append(text, fmt::format("{}", static_cast<uint16_t>(instruction.immediate)));
      return;
    default:
      text::append(text, text::operand(reg, Slot::s1, wave));
      text::append(text, immediate);
  }
}

void scalar(std::string& text, const Instruction& instruction, const Entry& entry, uint32_t wave) {
  if (entry.destination != Slot::none) {
    text::append(text, text::operand(instruction.destination, entry.destination, wave));
  }
  for (unsigned i = 0; i < instruction.source_count; ++i) {
    text::append(text, text::operand(instruction.sources[i], entry.sources[i], wave));
  }
}

}  // namespace

std::string to_text(const Instruction& instruction, uint32_t wave) {
  std::string text(mnemonic(instruction.opcode));
  const Entry& entry = entry_of(instruction);
  switch (instruction.format) {
    case Format::sop1:
    case Format::sop2:
    case Format::sopc:
      scalar(text, instruction, entry, wave);
      break;
    case Format::sopk:
      scalar_constant(text, instruction, wave);
      break;
    case Format::sopp:
      scalar_program(text, instruction, entry);
      break;
    case Format::mimg:
      text::image(text, instruction, wave);
      break;
    case Format::exp:
    case Format::vintrp:
      text::export_or_interpolate(text, instruction, wave);
      break;
    case Format::vop1:
    case Format::vop2:
    case Format::vopc:
    case Format::vop3:
    case Format::vop3p:
      if ((entry.flags & flags::interp) != 0) {
        text::export_or_interpolate(text, instruction, wave);
      } else {
        vector(text, instruction, entry, wave);
      }
      break;
    default:
      text::memory(text, instruction, wave);
      break;
  }
  return text;
}

}  // namespace orrery::shader
