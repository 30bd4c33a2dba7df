// Random forms of instructions: every encoding, modifier, SDWA and DPP that the decoder accepts, with the registers
// moved to where WaveState has some.
#pragma once

#include <random>
#include <vector>

#include "gpu-service/shader/decode/instruction.hpp"
#include "tests/gpu-service/shader/semantics/state_values.hpp"

namespace orrery::shader::semantics::test {

// `per_opcode` forms of each opcode and format that has semantics, is no memory access and is not in `excluded`.
std::vector<Instruction> random_instructions(std::mt19937& random, uint32_t per_opcode, uint32_t wave);

// What the instruction's operands mostly are, judged by its name.
Values values_of(const Instruction& instruction);

}  // namespace orrery::shader::semantics::test
