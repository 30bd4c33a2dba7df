// Starts a life of the service: control socket, device, memory, presenter; then runs it.
#pragma once

#include "gpu-service/service/options.hpp"
#include "shared/error.hpp"

namespace orrery::service {

Result<void> start(const Options& options);
Result<void> print_devices(const Options& options);

}  // namespace orrery::service
