// Which bytes an image is: from the first texel of its first layer to the last byte of its last.
#pragma once

#include <array>
#include <optional>

#include "gpu-service/memory/recording_memory.hpp"

namespace orrery::dispatch {

// Nothing: accesses through this T# are refused where the program runs, so nothing is touched.
std::optional<memory::GuestSpan> image_extent(const std::array<uint32_t, 8>& words);

}  // namespace orrery::dispatch
