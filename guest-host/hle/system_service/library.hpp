// libSceSystemService: what titles call of it that has no effect on a PC, and refusals for the rest.
#pragma once

#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/registry.hpp"

namespace orrery::hle::system_service {

void add_library(Registry& registry, Environment& environment);

}  // namespace orrery::hle::system_service
