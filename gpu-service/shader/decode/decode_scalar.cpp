// SOP1, SOP2, SOPC, SOPK, SOPP.
#include "gpu-service/shader/decode/operands.hpp"

namespace orrery::shader {

using table::Slot;

namespace {

void read_sources(Decoding& decoding, uint32_t word, uint8_t count) {
  Instruction& out = decoding.out;
  for (uint8_t i = 0; i < count; ++i) {
    const Slot slot = decoding.entry->sources[i];
    if (slot == Slot::none) {
      return;
    }
    read_source(decoding, out.sources[i], bits(word, 8u * i, 8), slot);
    out.source_count = static_cast<uint8_t>(i + 1);
  }
}

void read_result(Decoding& decoding, uint32_t word) {
  const Slot slot = decoding.entry->destination;
  if (slot != Slot::none) {
    read_scalar_register(decoding, decoding.out.destination, bits(word, 16, 7), table::slot_dwords(slot));
  }
}

void decode_sopk(Decoding& decoding, uint32_t word) {
  Instruction& out = decoding.out;
  read_result(decoding, word);
  // Compares take SIMM16 as signed or unsigned as they compare; s_cmpk_*_u32 are numbers 9..14.
  const bool is_unsigned = out.opcode >= Opcode::s_cmpk_eq_i32 && mnemonic(out.opcode).ends_with("_u32");
  const uint32_t immediate = bits(word, 0, 16);
  out.immediate = is_unsigned ? static_cast<int32_t>(immediate) : sign_extend(immediate, 16);
  switch (out.opcode) {
    case Opcode::s_getreg_b32:
    case Opcode::s_setreg_b32:
    case Opcode::s_version:
    case Opcode::s_waitcnt_vscnt:
    case Opcode::s_waitcnt_vmcnt:
    case Opcode::s_waitcnt_expcnt:
    case Opcode::s_waitcnt_lgkmcnt:
      out.immediate = static_cast<int32_t>(immediate);
      break;
    case Opcode::s_setreg_imm32_b32:
      out.immediate = static_cast<int32_t>(immediate);
      out.sources[0].kind = OperandKind::literal;
      out.sources[0].value = decoding.literal();
      out.source_count = 1;
      break;
    default:
      break;
  }
  // The compares, s_setreg and the waits read what their register field names.
  const bool reads_register = (out.opcode >= Opcode::s_cmpk_eq_i32 && out.opcode <= Opcode::s_cmpk_lt_u32) ||
                              out.opcode == Opcode::s_setreg_b32 || mnemonic(out.opcode).starts_with("s_waitcnt");
  if (reads_register) {
    out.sources[0] = out.destination;
    out.source_count = 1;
    out.destination = {};
  }
}

}  // namespace

void decode_scalar(Decoding& decoding) {
  const uint32_t word = decoding.word(0);
  Instruction& out = decoding.out;
  switch (out.format) {
    case Format::sop2:
      read_result(decoding, word);
      read_sources(decoding, word, 2);
      break;
    case Format::sop1:
      read_result(decoding, word);
      read_sources(decoding, word, 1);
      break;
    case Format::sopc:
      read_sources(decoding, word, 2);
      break;
    case Format::sopk:
      decode_sopk(decoding, word);
      break;
    default:
      if ((decoding.entry->flags & (table::flags::imm | table::flags::branch)) != 0) {
        const uint32_t immediate = bits(word, 0, 16);
        out.immediate = (decoding.entry->flags & table::flags::branch) != 0 ? sign_extend(immediate, 16)
                                                                            : static_cast<int32_t>(immediate);
      }
  }
}

}  // namespace orrery::shader
