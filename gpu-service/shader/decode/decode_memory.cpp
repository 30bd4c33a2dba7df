// SMEM, DS, FLAT/GLOBAL/SCRATCH, MUBUF, MTBUF, EXP: two words each.
#include "gpu-service/shader/decode/operands.hpp"

namespace orrery::shader {

using table::Slot;
namespace flags = table::flags;

namespace {

void decode_smem(Decoding& decoding, uint32_t word0, uint32_t word1) {
  Instruction& out = decoding.out;
  const table::Entry& entry = *decoding.entry;
  out.glc = bit(word0, 16) && (entry.flags & flags::glc) != 0;
  out.dlc = bit(word0, 14) && (entry.flags & flags::dlc) != 0;
  if ((entry.flags & flags::probe) != 0) {
    out.immediate = static_cast<int32_t>(bits(word0, 6, 7));
  } else if (entry.destination != Slot::none) {
    read_scalar_register(decoding, out.data, bits(word0, 6, 7), table::slot_dwords(entry.destination));
    const std::string_view name = mnemonic(out.opcode);
    const bool stores = name.find("store") != name.npos || (name.find("atomic") != name.npos && !out.glc);
    if (!stores) {
      out.destination = out.data;
    }
  }
  if (entry.sources[0] == Slot::none) {
    return;
  }
  // SBASE counts register pairs.
  read_scalar_register(decoding, out.base, bits(word0, 0, 6) * 2, table::slot_dwords(entry.sources[0]));
  out.memory_offset = sign_extend(bits(word1, 0, 21), 21);
  if (bits(word1, 25, 7) != kCodeNull) {
    read_scalar_register(decoding, out.scalar_offset, bits(word1, 25, 7), 1);
  }
}

void read_register(Decoding& decoding, Operand& operand, uint32_t index, Slot slot) {
  if (slot != Slot::none) {
    read_vgpr(decoding, operand, index, table::slot_dwords(slot));
  }
}

void decode_ds(Decoding& decoding, uint32_t word0, uint32_t word1) {
  Instruction& out = decoding.out;
  const table::Entry& entry = *decoding.entry;
  out.gds = bit(word0, 17);
  if (((entry.flags & flags::gds_only) != 0 && !out.gds) || ((entry.flags & flags::no_gds) != 0 && out.gds)) {
    decoding.fail(out.gds ? "no GDS form" : "needs GDS");
    return;
  }
  if ((entry.flags & flags::two_offsets) != 0) {
    out.memory_offset = static_cast<int32_t>(bits(word0, 0, 8));
    out.offset1 = static_cast<uint8_t>(bits(word0, 8, 8));
  } else if ((entry.flags & flags::no_offset) == 0) {
    out.memory_offset = static_cast<int32_t>(bits(word0, 0, 16));
  }
  read_register(decoding, out.address, bits(word1, 0, 8), entry.sources[0]);
  read_register(decoding, out.data, bits(word1, 8, 8), entry.sources[1]);
  read_register(decoding, out.data2, bits(word1, 16, 8), entry.sources[2]);
  read_register(decoding, out.destination, bits(word1, 24, 8), entry.destination);
}

void decode_flat(Decoding& decoding, uint32_t word0, uint32_t word1) {
  Instruction& out = decoding.out;
  const table::Entry& entry = *decoding.entry;
  out.dlc = bit(word0, 12);
  out.lds = bit(word0, 13);
  out.glc = bit(word0, 16);
  out.slc = bit(word0, 17);
  if (out.lds && (entry.flags & flags::lds) == 0) {
    decoding.fail("no LDS form");
    return;
  }
  // Plain FLAT takes no negative offset; gfx10.1 hardware does not apply it at all, and compilers leave it 0.
  out.memory_offset =
      out.format == Format::flat ? static_cast<int32_t>(bits(word0, 0, 12)) : sign_extend(bits(word0, 0, 12), 12);
  const uint32_t saddr = bits(word1, 16, 7);
  const bool has_saddr = out.format != Format::flat && saddr != 127 && saddr != kCodeNull;
  if (out.format == Format::global) {
    if (has_saddr) {
      read_scalar_register(decoding, out.base, saddr, 2);
    }
    if (entry.sources[0] != Slot::none) {
      read_vgpr(decoding, out.address, bits(word1, 0, 8), has_saddr ? 1 : 2);
    }
  } else if (out.format == Format::scratch) {
    if (has_saddr) {
      read_scalar_register(decoding, out.base, saddr, 1);
    } else if (saddr == 127 && decoding.target == Target::gfx1013) {
      decoding.fail("scratch without any address");
    } else if (saddr != 127) {
      read_vgpr(decoding, out.address, bits(word1, 0, 8), 1);
    }
  } else {
    read_vgpr(decoding, out.address, bits(word1, 0, 8), 2);
  }
  read_register(decoding, out.data, bits(word1, 8, 8), entry.sources[1]);
  if (!out.lds && ((entry.flags & flags::atomic) == 0 || out.glc)) {
    read_register(decoding, out.destination, bits(word1, 24, 8), entry.destination);
  }
}

void decode_buffer(Decoding& decoding, uint32_t word0, uint32_t word1) {
  Instruction& out = decoding.out;
  const table::Entry& entry = *decoding.entry;
  out.offen = bit(word0, 12);
  out.idxen = bit(word0, 13);
  out.glc = bit(word0, 14);
  out.dlc = bit(word0, 15) && (entry.flags & flags::atomic) == 0;
  out.slc = bit(word1, 22);
  const bool cache_only = entry.sources[0] == Slot::none && (entry.flags & flags::lds) == 0;
  if (cache_only) {  // buffer_gl0_inv, buffer_gl1_inv
    out.offen = out.idxen = out.glc = out.dlc = out.slc = false;
    return;
  }
  out.memory_offset = static_cast<int32_t>(bits(word0, 0, 12));
  if (out.format == Format::mubuf) {
    out.lds = bit(word0, 16);
    if (out.lds && (entry.flags & flags::lds) == 0) {
      decoding.fail("no LDS form");
      return;
    }
  } else {
    out.data_format = static_cast<uint8_t>(bits(word0, 19, 7));
  }
  out.tfe = bit(word1, 23);
  if (out.tfe && (out.lds || (entry.flags & flags::tfe) == 0)) {
    decoding.fail("no TFE form");
    return;
  }
  if (out.offen || out.idxen) {
    read_vgpr(decoding, out.address, bits(word1, 0, 8), out.offen && out.idxen ? 2 : 1);
  }
  if (!out.lds) {
    read_vgpr(decoding, out.data, bits(word1, 8, 8), table::slot_dwords(entry.sources[0]) + (out.tfe ? 1u : 0u));
    const std::string_view name = mnemonic(out.opcode);
    const bool atomic = (entry.flags & flags::atomic) != 0;
    if (name.find("load") != name.npos) {
      out.destination = out.data;
    } else if (atomic && out.glc) {
      out.destination = out.data;
      if (name.find("cmpswap") != name.npos) {
        out.destination.dwords = static_cast<uint8_t>(out.data.dwords / 2);
      }
    }
  }
  read_scalar_register(decoding, out.resource, bits(word1, 16, 5) * 4, 4);
  read_source(decoding, out.scalar_offset, bits(word1, 24, 8), Slot::c1);
  if (out.scalar_offset.kind == OperandKind::literal) {
    decoding.fail("literal as buffer offset");
  }
}

void decode_exp(Decoding& decoding, uint32_t word0, uint32_t word1) {
  Instruction& out = decoding.out;
  out.export_mask = static_cast<uint8_t>(bits(word0, 0, 4));
  out.export_target = static_cast<uint8_t>(bits(word0, 4, 6));
  out.export_compressed = bit(word0, 10);
  out.export_done = bit(word0, 11);
  out.export_valid_mask = bit(word0, 12);
  // Only channels that are written have a register; compressed pairs sit in the first two.
  out.source_count = 4;
  for (uint8_t i = 0; i < 4; ++i) {
    if (bit(out.export_mask, i)) {
      const uint8_t from = out.export_compressed ? i / 2 : i;
      read_vgpr(decoding, out.sources[i], bits(word1, 8u * from, 8), 1);
    }
  }
}

}  // namespace

void decode_memory(Decoding& decoding) {
  const uint32_t word0 = decoding.word(0);
  const uint32_t word1 = decoding.next_word();
  switch (decoding.out.format) {
    case Format::smem:
      decode_smem(decoding, word0, word1);
      break;
    case Format::ds:
      decode_ds(decoding, word0, word1);
      break;
    case Format::mubuf:
    case Format::mtbuf:
      decode_buffer(decoding, word0, word1);
      break;
    case Format::exp:
      decode_exp(decoding, word0, word1);
      break;
    default:
      decode_flat(decoding, word0, word1);
      break;
  }
}

}  // namespace orrery::shader
