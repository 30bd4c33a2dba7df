// Loads with the LDS bit: the value goes to the group's LDS instead of a register.
#pragma once

#include "gpu-service/shader/semantics/memory_shape.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {

// A dword per lane at M0[15:0] plus the instruction's offset plus four times the lane's number. `loaded`: as
// load_component answers it.
Outcome load_to_lds(Builder& b, const Instruction& i, Value loaded, const MemoryShape& shape);

}  // namespace orrery::shader::semantics
