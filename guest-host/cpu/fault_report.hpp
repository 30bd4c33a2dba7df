// The report of a fault in guest code, or in an import handler that the guest gave a bad pointer to.
#pragma once

#include <ucontext.h>
#include <csignal>

namespace orrery::cpu {

class GuestThread;

// Prints the report, asks the run to end with ExitCode::guest_fault and never returns. Answers false, and prints
// nothing, when neither guest code nor an import handler was running: then it is a bug of ours. Runs inside a signal
// handler.
bool report_fault(GuestThread& thread, int signal, const siginfo_t& info, const ucontext_t& context,
                  bool in_guest_code);

}  // namespace orrery::cpu
