// Atomics on private memory, which nobody else sees: a load, the operation, a store.
#pragma once

#include "gpu-service/shader/semantics/memory_shape.hpp"

namespace orrery::shader::semantics {

// Answers the old value; `access` is the atomic's.
ir::Value private_atomic(ir::Builder& b, const ir::Access& access, const Place& place, ir::Value data,
                         ir::Value second);

}  // namespace orrery::shader::semantics
