// Bounds of a value as a signed number, as far as a few operations back show them.
#pragma once

#include "gpu-service/shader/ir/builder.hpp"

namespace orrery::shader::semantics {

struct KnownRange {
  int64_t low = INT32_MIN, high = INT32_MAX;
  bool within(int64_t least, int64_t most) const { return low >= least && high <= most; }
};
// Of a u32.
KnownRange known_range(const ir::Builder& b, ir::Value v);

}  // namespace orrery::shader::semantics
