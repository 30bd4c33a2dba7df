// Jumps through a register pair whose target straight code in front of them gives away:
//   s_getpc_b64 s[a:b]; s_add_u32 sa, sa, constant; s_addc_u32 sb, sb, constant; ... s_setpc_b64 or s_swappc_b64 s[a:b]
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "gpu-service/shader/decode/instruction.hpp"

namespace orrery::shader::cfg {

struct TracedJump {
  uint32_t start = 0;   // index of the s_getpc_b64; nothing may jump behind it
  uint32_t target = 0;  // bytes from the start of the program
};

// `code` ends with the jump; instructions in front of it count as far as their offsets are consecutive.
std::optional<TracedJump> trace_jump(std::span<const Instruction> code);

// Whether the instruction writes the register pair.
bool writes_pair(const Instruction& instruction, uint32_t sgpr);

}  // namespace orrery::shader::cfg
