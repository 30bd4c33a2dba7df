// What a memory instruction moves, read off its mnemonic once when it is prepared.
#pragma once

#include <optional>

#include "gpu-service/shader/decode/instruction.hpp"

namespace orrery::shader::interpret {

// New memory contents from old contents, first and second data operand.
using AtomicFunction = uint64_t (*)(uint64_t old, uint64_t data, uint64_t data2);

struct MemoryShape {
  enum class Kind : uint8_t { load, store, atomic } kind = Kind::load;
  uint8_t bytes = 4;       // per lane and address
  bool is_signed = false;  // bytes 1 and 2: sign-extend
  bool d16 = false;        // loads one half of the register and keeps the other
  bool high = false;       // d16: the high half; stores: from the high half
  bool format = false;     // converts by a buffer format; bytes is then 4 per component
  uint8_t components = 1;  // format: 1..4
  uint8_t addresses = 1;   // LDS pairs: 2
  bool stride64 = false;   // LDS pairs: offsets count 64 elements
  AtomicFunction atomic = nullptr;
  bool from_lds = false;  // LDS: the operand lies in LDS too (src2)
  bool by_lane = false;   // four times the lane's number is added to the address
  bool compares = false;  // atomic with two data operands in one register range (cmpswap)
};

// Nothing: not a plain load, store or atomic, or one without semantics.
std::optional<MemoryShape> memory_shape(Opcode opcode);
// Of image_atomic_*; the width is not in the mnemonic.
std::optional<MemoryShape> image_atomic_shape(Opcode opcode, bool wide);

}  // namespace orrery::shader::interpret
