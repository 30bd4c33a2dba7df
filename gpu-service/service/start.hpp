// Starts a life of the service: control socket, device, memory, presenter; then runs it.
#pragma once

#include "gpu-service/service/options.hpp"
#include "shared/error.hpp"

namespace orrery::service {

// Does not return when the device was given up while it works on something: then the process ends here.
Result<void> start(const Options& options);
Result<void> print_devices(const Options& options);

// Tells the user on stderr why it ended; answers the process's exit status.
int tell_end(const Result<void>& ended);

}  // namespace orrery::service
