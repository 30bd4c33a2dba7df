// What a prepared launch can run on.
#pragma once

#include <memory>

#include "tests/gpu-service/shader/opencl/launch.hpp"

namespace orrery::opencl {

// The host interpreter, over the small guest's memory.
Runner interpreter_runner(SmallGuest& guest);
// The Vulkan device; throws when there is none.
Runner device_runner(SmallGuest& guest);

}  // namespace orrery::opencl
