// Instructions as text through LLVM's assembler and our decoder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu-service/shader/decode/instruction.hpp"

namespace orrery::shader::semantics::test {

// One instruction per line, all at once. `{m}`, `{vcc}`, `{exec}` in a line stand for the wave's mask registers:
// s16 / s[16:17], vcc_lo / vcc, exec_lo / exec. An empty result: the assembler's complaint is in `error`.
struct Assembled {
  std::vector<Instruction> instructions;
  std::string error;
};
Assembled assemble(std::span<const std::string> lines, uint32_t wave, const std::string& processor = "gfx1030");

}  // namespace orrery::shader::semantics::test
