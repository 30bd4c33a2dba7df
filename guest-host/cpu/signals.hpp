// What the processor and the kernel report about guest code: faults end the run with a report, blocked system calls are
// served. Handlers run on an alternate stack with the host's thread pointer (crossing.S).
#pragma once

#include "guest-host/cpu/fs_policy.hpp"
#include "shared/error.hpp"

namespace orrery::cpu {

// Installs the handlers of SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP and SIGSYS. Once, before guest threads start.
Result<void> install_signal_handlers(FsPolicy policy);

}  // namespace orrery::cpu
