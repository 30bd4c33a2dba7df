// libkernel's part of process and memory (threads, clocks and events are elsewhere).
#pragma once

#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/registry.hpp"

namespace orrery::hle::kernel {

// Output, exit, modules, thread-local storage, stack protector.
void add_process_functions(Registry& registry, Environment& environment);
// Direct and flexible memory, address space.
void add_memory_functions(Registry& registry, Environment& environment);

}  // namespace orrery::hle::kernel
