// The operand of s_getreg and s_setreg: a field of a hardware register.
#pragma once

#include "gpu-service/shader/decode/instruction.hpp"

namespace orrery::shader::semantics {

inline constexpr uint32_t kMode = 1;  // the MODE register's id

// Register in 5:0, first bit in 10:6, width less one in 15:11.
struct HardwareRegister {
  uint32_t id, offset, width;
  // The field's bits, shifted down.
  constexpr uint32_t mask() const { return ~0u >> (32 - width); }
};
inline HardwareRegister hardware_register(const Instruction& i) {
  const auto bits = static_cast<uint32_t>(i.immediate);
  return {bits & 63, bits >> 6 & 31, (bits >> 11 & 31) + 1};
}

}  // namespace orrery::shader::semantics
