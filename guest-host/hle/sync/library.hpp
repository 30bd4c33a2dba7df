// The semaphore functions of libkernel.
#pragma once

#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/registry.hpp"
#include "guest-host/hle/sync/semaphores.hpp"

namespace orrery::hle::sync {

void add_library(Registry& registry, Environment& environment, Semaphores& semaphores, clock::GuestClock& clock);

}  // namespace orrery::hle::sync
