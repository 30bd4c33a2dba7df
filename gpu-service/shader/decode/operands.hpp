// Operand fields to operands. Internal to the decoder.
#pragma once

#include <span>

#include "gpu-service/shader/decode/table.hpp"

namespace orrery::shader {

// One decode in progress. A step that fails sets `error` and the rest is skipped.
struct Decoding {
  std::span<const uint32_t> words;
  Instruction& out;
  Target target = Target::gfx1013;
  const table::Entry* entry = nullptr;
  const char* error = nullptr;
  bool has_literal = false;

  uint32_t word(size_t index) const { return index < words.size() ? words[index] : 0; }
  // Reserves one more word behind the instruction and gives it.
  uint32_t next_word();
  uint32_t literal();
  void fail(const char* reason) {
    if (error == nullptr) {
      error = reason;
    }
  }
};

constexpr uint32_t bits(uint32_t word, unsigned first, unsigned count) { return (word >> first) & ((1u << count) - 1); }
constexpr bool bit(uint32_t word, unsigned index) { return ((word >> index) & 1) != 0; }
constexpr int32_t sign_extend(uint32_t value, unsigned width) {
  return static_cast<int32_t>(value << (32 - width)) >> (32 - width);
}

// Hardware codes of the 9-bit source field.
constexpr uint32_t kCodeVcc = 106, kCodeM0 = 124, kCodeNull = 125, kCodeExec = 126;
constexpr uint32_t kCodeDpp8 = 233, kCodeDpp8Fetch = 234, kCodeSdwa = 249, kCodeDpp16 = 250, kCodeLiteral = 255,
                   kCodeVgpr = 256;

void read_vgpr(Decoding& decoding, Operand& operand, uint32_t index, unsigned dwords);
// Registers s0..exec only, as results, masks, addresses. Multiples are aligned down as the hardware does.
void read_scalar_register(Decoding& decoding, Operand& operand, uint32_t code, unsigned dwords);
void read_mask(Decoding& decoding, Operand& operand, uint32_t code);
// Any 9-bit source (8-bit SSRC with code < 256) as the slot allows.
void read_source(Decoding& decoding, Operand& operand, uint32_t code, table::Slot slot);
// A result in the VGPR destination field (which may hold an SGPR: v_readlane, v_cmp).
void read_destination(Decoding& decoding, Operand& operand, uint32_t code, table::Slot slot);

// One per encoding family, in decode_*.cpp.
void decode_scalar(Decoding& decoding);
void decode_vector_short(Decoding& decoding);  // VOP1, VOP2, VOPC with literal, SDWA, DPP
void decode_vector_long(Decoding& decoding);   // VOP3, VOP3P, VINTRP
void decode_memory(Decoding& decoding);        // SMEM, DS, FLAT, MUBUF, MTBUF, EXP
void decode_image(Decoding& decoding);

}  // namespace orrery::shader
