// What the processor and the kernel report about guest code: faults end the run with a report, blocked system calls are
// served. Handlers run on an alternate stack with the host's thread pointer (crossing.S).
#pragma once

#include <cstdint>

#include "guest-host/cpu/fs_policy.hpp"
#include "shared/error.hpp"

namespace orrery::cpu {

// Asked at every write that faults, in guest code and in ours, before anything else: true when it may be tried again.
// Must be async-signal-safe. Set before guest threads start; null: nobody.
using WriteFaultHook = bool (*)(void* context, uint64_t address);
void set_write_fault_hook(WriteFaultHook hook, void* context);

// Installs the handlers of SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP and SIGSYS. Once, before guest threads start.
Result<void> install_signal_handlers(FsPolicy policy);

}  // namespace orrery::cpu
