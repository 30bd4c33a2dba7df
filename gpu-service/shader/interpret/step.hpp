// One instruction prepared for running: its handler, its operands with constants widened to the type that reads them.
#pragma once

#include "gpu-service/shader/interpret/memory_shape.hpp"
#include "gpu-service/shader/interpret/wave.hpp"

namespace orrery::shader::interpret {

enum class SourceKind : uint8_t { none, vgpr, sgpr, constant, special };

struct Source {
  SourceKind kind = SourceKind::none;
  bool negate = false, absolute = false, negate_high = false, sign_extend = false;
  SdwaSelect select = SdwaSelect::dword;
  uint16_t index = 0;
  uint64_t value = 0;  // constant: as the operand's type reads it
};

using Handler = void (*)(Wave&, const Step&);

struct Step {
  Handler run = nullptr;
  const Instruction* instruction = nullptr;
  std::array<Source, 4> sources{};
  uint16_t destination = 0;   // VGPR or SGPR number
  uint16_t destination2 = 0;  // SGPR number
  bool has_destination = false;
  bool is_vector = false;
  bool place_only = false;  // only where it loads or stores is wanted
  MemoryShape memory;       // loads, stores and atomics of the vector memory families
  uint32_t next = 0;        // index of the step behind this one
  uint32_t target = 0;      // branch: index of its target
  uint32_t offset() const { return instruction->offset; }
};
inline constexpr uint32_t kNoStep = ~0u;

// One instruction; indices are left to the engine.
Step prepare(const Instruction& instruction);

// nullptr: no semantics. One per family, in the file of that name.
Handler scalar_alu_handler(Opcode opcode);
Handler scalar_control_handler(const Instruction& instruction);
Handler scalar_memory_handler(Opcode opcode);
Handler vector_integer_handler(Opcode opcode);
Handler vector_short_integer_handler(Opcode opcode);
Handler vector_float_handler(Opcode opcode);
Handler vector_double_handler(Opcode opcode);
Handler vector_half_handler(Opcode opcode);
Handler vector_packed_handler(Opcode opcode);
Handler vector_convert_handler(Opcode opcode);
Handler vector_compare_handler(Opcode opcode);
Handler vector_lanes_handler(Opcode opcode);
Handler local_memory_handler(const Instruction& instruction);
Handler buffer_memory_handler(const Instruction& instruction);
Handler flat_memory_handler(const Instruction& instruction);
Handler image_handler(const Instruction& instruction);

Handler handler_of(const Instruction& instruction);

}  // namespace orrery::shader::interpret
