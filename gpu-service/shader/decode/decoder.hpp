// Bytes to instructions. Table-driven: opcodes.inc has one line per opcode and encoding.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>

#include "gpu-service/shader/decode/instruction.hpp"

namespace orrery::shader {

// Which instruction set: the two collide on few opcodes.
enum class Target : uint8_t { gfx1013, gfx1030 };

struct DecodeError {
  uint32_t offset = 0;  // bytes from the start of the program
  std::string reason;   // "reserved encoding c4000000", "truncated", ...
};

// Decodes the instruction at the front of `words` (which may hold less than it needs: truncated).
std::expected<Instruction, DecodeError> decode(std::span<const uint32_t> words, uint32_t offset,
                                               Target target = Target::gfx1013);

// LLVM-like text, for reports and tests ("v_add_f32 v0, v1, s2"): LLVM's without the encoding suffix. `wave` (32 or 64)
// decides how lane masks are written. Messages, hardware registers and s_waitcnt_depctr are written as plain numbers.
std::string to_text(const Instruction& instruction, uint32_t wave = 32);

}  // namespace orrery::shader
