// Finds out whether the device's GLSL.std.450 Fma is fused (lavapipe 22.3 multiplies, rounds and adds).
#pragma once

#include "shared/error.hpp"

namespace orrery::vulkan {

class Device;

// Runs one invocation; a few milliseconds.
Result<bool> probe_fma(const Device& device);

}  // namespace orrery::vulkan
