// What a memory instruction moves, read from its mnemonic.
#pragma once

#include "gpu-service/shader/ir/builder.hpp"

namespace orrery::shader::semantics {

struct MemoryShape {
  enum class Kind : uint8_t { none, load, store, atomic, unsupported } kind = Kind::none;
  uint8_t bytes = 4;       // of one component: 1, 2, 4; atomics 4 or 8
  uint8_t components = 1;  // dwords, or components of a typed access
  bool typed = false;      // converts by a format
  bool sign_extend = false;
  bool half = false;     // d16: 16 bits of a register
  bool high = false;     // d16_hi: the high half
  bool by_lane = false;  // addtid: four times the lane's number is added to the address
  ir::AtomicOp atomic = ir::AtomicOp::none;
};

// Of buffer_, global_, flat_, scratch_, ds_ and image_atomic_ instructions; kind none for others, unsupported where the
// meaning is not written yet.
const MemoryShape& memory_shape(Opcode opcode);

// One way to memory: lanes of `lanes` go to `address` in `space`.
struct Place {
  ir::Space space = ir::Space::guest;
  ir::Value lanes;
  ir::Value address;
  uint32_t binding = 0;
  int32_t offset = 0;
};

// Does what the shape says with the instruction's registers; every lane is in at most one place.
void move_memory(ir::Builder& b, const Instruction& i, const MemoryShape& shape, std::span<const Place> places);
// Component n alone: loads answer its value, stores write register n of the data.
ir::Value load_component(ir::Builder& b, const Instruction& i, const MemoryShape& shape, const Place& place,
                         uint32_t n);
void store_component(ir::Builder& b, const Instruction& i, const MemoryShape& shape, const Place& place, uint32_t n);
// Writes loaded components to the destination (sign extension, d16).
void write_loaded(ir::Builder& b, const Instruction& i, const MemoryShape& shape, std::span<const ir::Value> parts);

}  // namespace orrery::shader::semantics
