// Where a buffer instruction's lanes go: the V#, its addressing modes and its range check. Facts: RDNA 2 ISA document,
// chapter 8; OOB_SELECT as Mesa states it for gfx10 (first byte of a dword, not its last).
#pragma once

#include "gpu-service/shader/semantics/memory_shape.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {

struct BufferAccess {
  enum class Route : uint8_t {
    bound,      // a binding of the module: neither swizzled nor with thread ids, checked by record or raw
    addressed,  // the V# is taken apart here
    scratch,    // the private segment's own descriptor
    lost,       // made of the private segment's descriptor, but not simply it: to be refused
  } route = Route::addressed;
  std::array<Value, 4> words;   // V#
  Value index, offset, scalar;  // VGPRs or 0; soffset
  uint32_t immediate = 0;
  uint32_t binding = 0;

  Value field(Builder& b, uint32_t word, uint32_t first, uint32_t bits) const {
    return b.op(Op::bitfield_u, Type::u32, {words[word], b.u32(first), b.u32(bits)});
  }
  Value format(Builder& b) const { return field(b, 3, 12, 7); }
  Value selectors(Builder& b) const { return field(b, 3, 0, 12); }
};

BufferAccess buffer_access(Builder& b, const Instruction& i);

// Lanes and address of the bytes that lie `behind` bytes after the instruction's first. Checked are `checked` bytes
// (u32) from there on: 1 where the first decides, all of them where an access is done whole or not at all. The address
// is aligned to `bytes` (1, 2, 4 or 8).
Place buffer_place(Builder& b, const BufferAccess& access, uint32_t behind, Value checked, Value bytes);

}  // namespace orrery::shader::semantics
