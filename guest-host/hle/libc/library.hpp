// libSceLibcInternal: what titles use of the C library, served by the host's where that is safe.
#pragma once

#include <memory>

#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/registry.hpp"

namespace orrery::hle::libc {

inline constexpr std::string_view kLibrary = "libSceLibcInternal";

void add_string_functions(Registry& registry);
void add_print_functions(Registry& registry, Environment& environment);
void add_heap_functions(Registry& registry, Environment& environment);
// exit, atexit, abort, conversions, sorting.
void add_general_functions(Registry& registry, Environment& environment);
void add_math_functions(Registry& registry);

}  // namespace orrery::hle::libc
