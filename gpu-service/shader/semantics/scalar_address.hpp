// Where scalar memory instructions go: a base and offsets, or a V#. Facts: RDNA ISA document, "Scalar Memory
// Operations".
#pragma once

#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {

// The register's part of the offset, a multiple of 4; none when there is no register.
Value scalar_register_offset(Builder& b, const Instruction& i);

// The V# of s_buffer instructions: its binding, or its base address; and its bytes: num_records, times the stride where
// there is one.
struct ScalarBuffer {
  ir::Space space = ir::Space::guest;
  uint32_t binding = 0;
  Value base;    // u64, of Space::guest
  Value size;    // u32
  Value offset;  // u32: of the instruction, a multiple of 4

  // Of the byte `at` (u32).
  Value address(Builder& b, Value at) const {
    return space == ir::Space::buffer ? at : b.add(base, b.zext(Type::u64, at));
  }
};
ScalarBuffer scalar_buffer(Builder& b, const Instruction& i);

}  // namespace orrery::shader::semantics
