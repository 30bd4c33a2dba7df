// VOP3 (both result forms), VOP3P, VINTRP.
#include "gpu-service/shader/decode/operands.hpp"

namespace orrery::shader {

using table::Slot;
namespace flags = table::flags;

namespace {

void read_sources(Decoding& decoding, uint32_t word) {
  Instruction& out = decoding.out;
  const table::Entry& entry = *decoding.entry;
  for (uint8_t i = 0; i < 3 && entry.sources[i] != Slot::none; ++i) {
    read_source(decoding, out.sources[i], bits(word, 9u * i, 9), entry.sources[i]);
    out.sources[i].negate = bit(entry.flags & 7, i) && bit(word, 29u + i);
    out.source_count = static_cast<uint8_t>(i + 1);
  }
}

// The parameter forms keep attribute and channel where src0 would be.
void decode_long_interpolation(Decoding& decoding, uint32_t word0, uint32_t word1) {
  Instruction& out = decoding.out;
  const table::Entry& entry = *decoding.entry;
  read_destination(decoding, out.destination, bits(word0, 0, 8), entry.destination);
  out.attribute = static_cast<uint8_t>(bits(word1, 0, 6));
  out.attribute_channel = static_cast<uint8_t>(bits(word1, 6, 2));
  out.op_select = mnemonic(out.opcode).ends_with("_f16") ? static_cast<uint8_t>(bits(word1, 8, 1))
                                                         : uint8_t{0};  // high half of the attribute
  out.clamp = bit(word0, 15);
  out.output_modifier = out.opcode == Opcode::v_interp_p2_f16 ? uint8_t{0} : static_cast<uint8_t>(bits(word1, 27, 2));
  if (entry.sources[0] == Slot::k1) {
    out.sources[0].kind = OperandKind::constant;
    out.sources[0].value = bits(word1, 9, 9);
    out.source_count = 1;
    if (out.sources[0].value > 255) {
      decoding.fail("reserved parameter");
    }
    return;
  }
  for (uint8_t i = 0; i < 2 && entry.sources[i] != Slot::none; ++i) {
    read_source(decoding, out.sources[i], bits(word1, 9u * (i + 1u), 9), entry.sources[i]);
    out.sources[i].negate = bit(word1, 30u + i);
    out.sources[i].absolute = bit(word0, 9u + i);
    out.source_count = static_cast<uint8_t>(i + 1);
  }
}

void decode_vop3(Decoding& decoding, uint32_t word0, uint32_t word1) {
  Instruction& out = decoding.out;
  const table::Entry& entry = *decoding.entry;
  if ((entry.flags & flags::interp) != 0) {
    decode_long_interpolation(decoding, word0, word1);
    return;
  }
  read_destination(decoding, out.destination, bits(word0, 0, 8), entry.destination);
  read_sources(decoding, word1);
  if (entry.destination2 == Slot::mask) {
    read_mask(decoding, out.destination2, bits(word0, 8, 7));
  } else {
    for (uint8_t i = 0; i < out.source_count; ++i) {
      out.sources[i].absolute = bit(entry.flags >> 3 & 7, i) && bit(word0, 8u + i);
    }
    out.op_select = static_cast<uint8_t>(bits(word0, 11, 4) & (entry.flags >> 6 & 15));
  }
  out.clamp = (entry.flags & flags::clamp) != 0 && bit(word0, 15);
  out.output_modifier = (entry.flags & flags::omod) != 0 ? static_cast<uint8_t>(bits(word1, 27, 2)) : uint8_t{0};
}

void decode_vop3p(Decoding& decoding, uint32_t word0, uint32_t word1) {
  Instruction& out = decoding.out;
  const table::Entry& entry = *decoding.entry;
  read_destination(decoding, out.destination, bits(word0, 0, 8), entry.destination);
  read_sources(decoding, word1);
  for (uint8_t i = 0; i < out.source_count; ++i) {
    out.sources[i].absolute = bit(entry.flags >> 3 & 7, i) && bit(word0, 8u + i);
    out.sources[i].negate_high = bit(entry.flags >> 10 & 7, i) && bit(word0, 8u + i);
  }
  const uint32_t in_use = (1u << out.source_count) - 1;
  out.op_select = static_cast<uint8_t>(bits(word0, 11, 3) & in_use);
  out.op_select_high = static_cast<uint8_t>((bits(word1, 27, 2) | bits(word0, 14, 1) << 2) & in_use);
  out.clamp = (entry.flags & flags::clamp) != 0 && bit(word0, 15);
}

void decode_vintrp(Decoding& decoding, uint32_t word) {
  Instruction& out = decoding.out;
  read_destination(decoding, out.destination, bits(word, 18, 8), decoding.entry->destination);
  out.attribute = static_cast<uint8_t>(bits(word, 10, 6));
  out.attribute_channel = static_cast<uint8_t>(bits(word, 8, 2));
  out.source_count = 1;
  if (decoding.entry->sources[0] == Slot::k1) {
    out.sources[0].kind = OperandKind::constant;
    out.sources[0].value = bits(word, 0, 8);
  } else {
    read_vgpr(decoding, out.sources[0], bits(word, 0, 8), 1);
  }
}

}  // namespace

void decode_vector_long(Decoding& decoding) {
  if (decoding.out.format == Format::vintrp) {
    decode_vintrp(decoding, decoding.word(0));
    return;
  }
  decoding.out.size = 4;
  const uint32_t word1 = decoding.next_word();
  if (decoding.out.format == Format::vop3p) {
    decode_vop3p(decoding, decoding.word(0), word1);
  } else {
    decode_vop3(decoding, decoding.word(0), word1);
  }
}

}  // namespace orrery::shader
