#include "gpu-service/shader/decode/operands.hpp"

#include <bit>

namespace orrery::shader {

using table::Slot;

uint32_t Decoding::next_word() {
  const size_t index = out.size / 4u;
  if (index >= words.size()) {
    fail("truncated");
    return 0;
  }
  out.size = static_cast<uint8_t>(out.size + 4);
  return words[index];
}

uint32_t Decoding::literal() {
  if (has_literal) {
    return words[out.size / 4u - 1];
  }
  const uint32_t value = next_word();
  has_literal = error == nullptr;
  return value;
}

void read_vgpr(Decoding& decoding, Operand& operand, uint32_t index, unsigned dwords) {
  if (index + dwords > 256) {
    decoding.fail("VGPR range beyond v255");
    return;
  }
  operand.kind = OperandKind::vgpr;
  operand.index = static_cast<uint16_t>(index);
  operand.dwords = static_cast<uint8_t>(dwords);
}

void read_scalar_register(Decoding& decoding, Operand& operand, uint32_t code, unsigned dwords) {
  operand.kind = OperandKind::sgpr;
  operand.dwords = static_cast<uint8_t>(dwords);
  operand.index = static_cast<uint16_t>(code);
  if (dwords == 1 || code == kCodeNull) {
    return;
  }
  if (code < kCodeVcc) {
    const uint32_t aligned = code & ~(dwords == 2 ? 1u : 3u);
    if (aligned + dwords > kCodeVcc) {
      decoding.fail("SGPR range beyond s105");
    }
    operand.index = static_cast<uint16_t>(aligned);
  } else if (code >= 108 && code < kCodeM0) {
    const uint32_t aligned = 108 + ((code - 108) & ~(dwords == 2 ? 1u : 3u));
    if (aligned + dwords > kCodeM0) {
      decoding.fail("ttmp range beyond ttmp15");
    }
    operand.index = static_cast<uint16_t>(aligned);
  } else if (dwords != 2 || (code != kCodeVcc && code != kCodeExec)) {
    decoding.fail("no register pair or quad at this code");
  }
}

void read_mask(Decoding& decoding, Operand& operand, uint32_t code) {
  // In wave32 one register: no alignment. The pair of a wave64 mask is aligned by whoever knows the wave width.
  if (code > 127) {
    decoding.fail("no lane mask at this code");
  }
  operand.kind = OperandKind::sgpr;
  operand.index = static_cast<uint16_t>(code);
  operand.dwords = 2;
  operand.lane_mask = true;
}

namespace {

bool takes_constants(Slot slot) {
  switch (slot) {
    case Slot::c1:
    case Slot::c2:
    case Slot::a1:
    case Slot::a2:
    case Slot::a4:
    case Slot::h1:
    case Slot::i1:
      return true;
    default:
      return false;
  }
}

bool takes_vgpr(Slot slot) {
  switch (slot) {
    case Slot::v1:
    case Slot::v2:
    case Slot::v3:
    case Slot::v4:
    case Slot::a1:
    case Slot::a2:
    case Slot::a4:
    case Slot::h1:
    case Slot::i1:
      return true;
    default:
      return false;
  }
}

bool takes_scalar(Slot slot) { return takes_constants(slot) || (slot >= Slot::r1 && slot <= Slot::s16); }

constexpr float kInlineFloats[] = {0.5f, -0.5f, 1.0f, -1.0f, 2.0f, -2.0f, 4.0f, -4.0f, 0.15915494f};

bool is_special(uint32_t code, unsigned dwords) {
  return (code >= 235 && code <= 239) || (code >= 251 && code <= 253) || (code == 254 && dwords == 1);
}

}  // namespace

void read_source(Decoding& decoding, Operand& operand, uint32_t code, Slot slot) {
  if (slot == Slot::mask) {
    read_mask(decoding, operand, code);
    return;
  }
  const unsigned dwords = table::slot_dwords(slot);
  operand.dwords = static_cast<uint8_t>(dwords);
  if (code >= kCodeVgpr) {
    if (!takes_vgpr(slot)) {
      decoding.fail("VGPR where a scalar is needed");
      return;
    }
    read_vgpr(decoding, operand, code - kCodeVgpr, dwords);
  } else if (!takes_scalar(slot)) {
    decoding.fail("scalar where a VGPR is needed");
  } else if (code < 128) {
    read_scalar_register(decoding, operand, code, dwords);
  } else if (is_special(code, dwords)) {
    operand.kind = OperandKind::special;
    operand.index = static_cast<uint16_t>(code);
  } else if (!takes_constants(slot)) {
    decoding.fail("constant where a register is needed");
  } else if (code <= 192) {
    operand.kind = OperandKind::constant;
    operand.value = code - 128;
  } else if (code <= 208) {
    operand.kind = OperandKind::constant;
    operand.value = 192 - code;
  } else if (code >= 240 && code <= 248) {
    operand.kind = OperandKind::constant;
    operand.inline_float = true;
    operand.value = std::bit_cast<uint32_t>(kInlineFloats[code - 240]);
  } else if (code == kCodeLiteral) {
    operand.kind = OperandKind::literal;
    operand.value = decoding.literal();
  } else {
    decoding.fail("reserved source code");
  }
}

void read_destination(Decoding& decoding, Operand& operand, uint32_t code, Slot slot) {
  switch (slot) {
    case Slot::none:
      return;
    case Slot::vcc:
      read_mask(decoding, operand, kCodeVcc);
      return;
    case Slot::exec:
      read_mask(decoding, operand, kCodeExec);
      return;
    case Slot::mask:
      read_mask(decoding, operand, code);
      return;
    case Slot::r1:
    case Slot::r2:
      if (code > 127) {
        decoding.fail("reserved scalar destination");
        return;
      }
      read_scalar_register(decoding, operand, code, table::slot_dwords(slot));
      return;
    default:
      read_vgpr(decoding, operand, code, table::slot_dwords(slot));
      return;
  }
}

}  // namespace orrery::shader
