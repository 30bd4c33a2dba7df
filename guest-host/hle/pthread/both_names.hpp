// A function that exists twice: under libkernel's name it answers 0x80020000 + errno, under POSIX's the errno itself.
#pragma once

#include "guest-host/hle/registry.hpp"

namespace orrery::hle::pthread {

// `function` answers 0 or a FreeBSD errno.
template <class... A, class F>
void add_both(Registry& registry, const char* kernel_name, const char* posix_name, F function) {
  registry.add("libkernel", kernel_name, [function](A... arguments) {
    const int error = function(arguments...);
    return error == 0 ? 0 : kernel_error(error);
  });
  registry.add("libScePosix", posix_name, [function](A... arguments) -> int32_t { return function(arguments...); });
}

}  // namespace orrery::hle::pthread
