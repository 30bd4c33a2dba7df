// Threads, mutexes and condition variables: libkernel's scePthread functions and their POSIX names.
#pragma once

#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/pthread/threads.hpp"
#include "guest-host/hle/registry.hpp"

namespace orrery::hle::pthread {

void add_library(Registry& registry, Environment& environment, Threads& threads);

}  // namespace orrery::hle::pthread
