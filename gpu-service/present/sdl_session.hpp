// SDL's start: video, game controllers, Vulkan.
#pragma once

#include "shared/error.hpp"

namespace orrery::present {

// Once per process; later calls do nothing. Error (no_display): no display can be opened; it suggests --headless.
Result<void> start_sdl();

}  // namespace orrery::present
