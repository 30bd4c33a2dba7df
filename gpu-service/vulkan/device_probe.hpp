// What no property tells: found out by running a shader when the device is opened.
#pragma once

#include <cstdint>

#include "shared/error.hpp"

namespace orrery::vulkan {

class Device;

struct DeviceProbe {
  bool fuses_fma = false;     // GLSL.std.450 Fma rounds once (lavapipe 22.3 multiplies, rounds and adds)
  bool orders_zeros = false;  // NMin and NMax of floats take -0 for less than +0, in any order
  // Of floats: read, computed with, and given as results, in a module that demands it where that can be demanded; and
  // the same of Fma, where NVIDIA's driver flushes them.
  bool keeps_denormals = false, fma_keeps_denormals = false;
  // Conversions to a narrower float go to the nearest, ties to even; true where there is no such type.
  bool rounds_halves = true, rounds_doubles = true;
  uint32_t loop_limit =
      0;  // an invocation's loops end after so many rounds in all (lavapipe: 65,535, silently); 0: never
};

// Runs up to three shaders of one invocation; a few milliseconds each.
Result<DeviceProbe> probe_device(const Device& device);

}  // namespace orrery::vulkan
