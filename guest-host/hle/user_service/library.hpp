// libSceUserService: one user is always logged in.
#pragma once

#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/registry.hpp"

namespace orrery::hle::user_service {

void add_library(Registry& registry, Environment& environment);

}  // namespace orrery::hle::user_service
