// VOP1, VOP2, VOPC: one word, then a literal, an SDWA word or a DPP word.
#include "gpu-service/shader/decode/operands.hpp"

namespace orrery::shader {

using table::Slot;
namespace flags = table::flags;

namespace {

// SDWA sources are a VGPR or (bit s) a scalar register or inline constant.
void read_sdwa_source(Decoding& decoding, Operand& operand, uint32_t word, unsigned shift, uint32_t index,
                      bool scalar) {
  if (scalar) {
    if (index == kCodeLiteral || index == kCodeSdwa || index == kCodeDpp16) {
      decoding.fail("reserved SDWA source");
      return;
    }
    read_source(decoding, operand, index, Slot::a1);
  } else {
    read_vgpr(decoding, operand, index, 1);
  }
  const uint32_t select = bits(word, shift, 3);
  if (select > static_cast<uint32_t>(SdwaSelect::dword)) {
    decoding.fail("reserved SDWA selector");
    return;
  }
  operand.select = static_cast<SdwaSelect>(select);
  const bool is_second = shift == 24;
  if ((decoding.entry->flags & flags::sdwa_float) != 0 &&
      !(is_second && (decoding.entry->flags & flags::source1_int) != 0)) {
    operand.negate = bit(word, shift + 4);
    operand.absolute = bit(word, shift + 5);
  } else {
    operand.sign_extend = bit(word, shift + 3);
  }
}

void decode_sdwa(Decoding& decoding, uint32_t first) {
  Instruction& out = decoding.out;
  const table::Entry& entry = *decoding.entry;
  if ((entry.flags & flags::sdwa) == 0) {
    decoding.fail("no SDWA form");
    return;
  }
  const uint32_t word = decoding.next_word();
  out.sdwa.present = true;
  read_sdwa_source(decoding, out.sources[0], word, 16, bits(word, 0, 8), bit(word, 23));
  out.source_count = 1;
  if (out.format != Format::vop1) {
    read_sdwa_source(decoding, out.sources[1], word, 24, bits(first, 9, 8), bit(word, 31));
    out.source_count = 2;
  }
  if (out.format == Format::vopc) {
    if (entry.destination == Slot::exec) {
      read_destination(decoding, out.destination, 0, Slot::exec);
    } else {
      read_mask(decoding, out.destination, bit(word, 15) ? bits(word, 8, 7) : kCodeVcc);
    }
    return;
  }
  read_destination(decoding, out.destination, bits(first, 17, 8), entry.destination);
  const uint32_t select = bits(word, 8, 3), unused = bits(word, 11, 2);
  if (select > static_cast<uint32_t>(SdwaSelect::dword) || unused > 2) {
    decoding.fail("reserved SDWA destination selector");
    return;
  }
  out.sdwa.destination = static_cast<SdwaSelect>(select);
  out.sdwa.unused = static_cast<uint8_t>(unused);
  out.clamp = (entry.flags & flags::clamp) != 0 && bit(word, 13);
  out.output_modifier = (entry.flags & flags::omod) != 0 ? static_cast<uint8_t>(bits(word, 14, 2)) : uint8_t{0};
}

void decode_dpp(Decoding& decoding, uint32_t first, uint32_t code) {
  Instruction& out = decoding.out;
  const table::Entry& entry = *decoding.entry;
  const bool is_dpp16 = code == kCodeDpp16;
  if ((entry.flags & (is_dpp16 ? flags::dpp : flags::dpp8)) == 0) {
    decoding.fail("no DPP form");
    return;
  }
  const uint32_t word = decoding.next_word();
  read_vgpr(decoding, out.sources[0], bits(word, 0, 8), 1);
  out.source_count = 1;
  if (out.format != Format::vop1) {
    read_vgpr(decoding, out.sources[1], bits(first, 9, 8), 1);
    out.source_count = 2;
  }
  read_destination(decoding, out.destination, bits(first, 17, 8), entry.destination);
  if (!is_dpp16) {
    out.dpp.kind = Dpp::Kind::dpp8;
    out.dpp.lanes = word >> 8;
    out.dpp.fetch_inactive = code == kCodeDpp8Fetch;
    return;
  }
  out.dpp.kind = Dpp::Kind::dpp16;
  out.dpp.control = static_cast<uint16_t>(bits(word, 8, 9));
  // quad_perm, row_shl/shr/ror 1..15, row_mirror, row_half_mirror, row_share, row_xmask.
  const uint32_t control = out.dpp.control;
  const bool known = control <= 0xff || (control > 0x100 && control < 0x130 && (control & 15) != 0) ||
                     control == 0x140 || control == 0x141 || (control >= 0x150 && control <= 0x16f);
  if (!known) {
    decoding.fail("reserved DPP control");
  }
  out.dpp.fetch_inactive = bit(word, 18);
  out.dpp.bound_control = bit(word, 19);
  if ((entry.flags & flags::dpp_neg) != 0) {
    out.sources[0].negate = bit(word, 20);
    out.sources[0].absolute = bit(word, 21);
    if (out.source_count == 2 && (entry.flags & flags::source1_int) != 0) {
      out.sources[1].sign_extend = bit(word, 22);
    } else if (out.source_count == 2) {
      out.sources[1].negate = bit(word, 22);
      out.sources[1].absolute = bit(word, 23);
    }
  }
  out.dpp.bank_mask = static_cast<uint8_t>(bits(word, 24, 4));
  out.dpp.row_mask = static_cast<uint8_t>(bits(word, 28, 4));
}

}  // namespace

void decode_vector_short(Decoding& decoding) {
  const uint32_t word = decoding.word(0);
  Instruction& out = decoding.out;
  const table::Entry& entry = *decoding.entry;
  const uint32_t code = bits(word, 0, 9);
  read_destination(decoding, out.destination2, 0, entry.destination2);
  if (entry.sources[0] != Slot::none && code == kCodeSdwa) {
    decode_sdwa(decoding, word);
  } else if (entry.sources[0] != Slot::none && (code == kCodeDpp16 || code == kCodeDpp8 || code == kCodeDpp8Fetch)) {
    decode_dpp(decoding, word, code);
  } else {
    // VOPC results are implicit; the field at 17 is its opcode.
    read_destination(decoding, out.destination, bits(word, 17, 8), entry.destination);
    for (uint8_t i = 0; i < 3 && entry.sources[i] != Slot::none && entry.sources[i] != Slot::vcc; ++i) {
      Operand& source = out.sources[i];
      if (entry.sources[i] == Slot::k1) {
        source.kind = OperandKind::literal;
        source.value = decoding.literal();
      } else if (i == 0) {
        read_source(decoding, source, code, entry.sources[0]);
      } else {
        read_vgpr(decoding, source, bits(word, 9, 8), table::slot_dwords(entry.sources[i]));
      }
      out.source_count = static_cast<uint8_t>(i + 1);
    }
  }
  if (entry.sources[2] == Slot::vcc) {
    read_mask(decoding, out.sources[2], kCodeVcc);
    out.source_count = 3;
  }
}

}  // namespace orrery::shader
