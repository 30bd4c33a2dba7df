// The semaphore and event flag functions of libkernel.
#pragma once

#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/registry.hpp"
#include "guest-host/hle/sync/event_flags.hpp"
#include "guest-host/hle/sync/semaphores.hpp"

namespace orrery::hle::sync {

void add_library(Registry& registry, Environment& environment, Semaphores& semaphores, clock::GuestClock& clock);
void add_event_flags(Registry& registry, Environment& environment, EventFlags& flags, clock::GuestClock& clock);

}  // namespace orrery::hle::sync
