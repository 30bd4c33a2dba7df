// Pieces of to_text. Internal to the decoder.
#pragma once

#include <string>

#include "gpu-service/shader/decode/table.hpp"

namespace orrery::shader::text {

// "v[8:9]", "s5", "vcc_lo", "null", "0.5", "0x1234"; lane masks as the wave width says.
std::string operand(const Operand& operand, table::Slot slot, uint32_t wave);
// With "-", "|x|", "neg(x)", "sext(x)".
std::string modified(const Operand& operand, table::Slot slot, uint32_t wave);
// Joins operands with commas behind the mnemonic.
void append(std::string& text, const std::string& operand);
// "0x10" or a small decimal, as LLVM writes 16-bit immediates.
std::string immediate16(int32_t value);

void memory(std::string& text, const Instruction& instruction, uint32_t wave);
void image(std::string& text, const Instruction& instruction, uint32_t wave);
void export_or_interpolate(std::string& text, const Instruction& instruction, uint32_t wave);

}  // namespace orrery::shader::text
