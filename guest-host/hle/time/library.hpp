// Sleeping and clocks: functions of libkernel and libScePosix.
#pragma once

#include "guest-host/clock/guest_clock.hpp"
#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/registry.hpp"

namespace orrery::hle::time {

void add_library(Registry& registry, Environment& environment, clock::GuestClock& clock);

}  // namespace orrery::hle::time
