// What no property tells: found out by running a shader when the device is opened.
#pragma once

#include <cstdint>

#include "shared/error.hpp"

namespace orrery::vulkan {

class Device;

struct DeviceProbe {
  bool fuses_fma = false;  // GLSL.std.450 Fma rounds once (lavapipe 22.3 multiplies, rounds and adds)
  uint32_t loop_limit =
      0;  // an invocation's loops end after so many rounds in all (lavapipe: 65,535, silently); 0: never
};

// Runs one invocation; a few milliseconds.
Result<DeviceProbe> probe_device(const Device& device);

}  // namespace orrery::vulkan
