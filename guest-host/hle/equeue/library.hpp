// The event-queue functions of libkernel.
#pragma once

#include "guest-host/clock/guest_clock.hpp"
#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/equeue/event_queues.hpp"
#include "guest-host/hle/registry.hpp"

namespace orrery::hle::equeue {

void add_library(Registry& registry, Environment& environment, EventQueues& queues, clock::GuestClock& clock);

}  // namespace orrery::hle::equeue
