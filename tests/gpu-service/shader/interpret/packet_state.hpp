// The dispatch state that a title's packets set.
#pragma once

#include "gpu-service/shader/interpret/interpreter.hpp"

namespace orrery::shader::testing {

// From SET_SH_REG and DISPATCH_DIRECT. `program` is left out.
interpret::Dispatch dispatch_of(std::span<const uint32_t> packets);

}  // namespace orrery::shader::testing
