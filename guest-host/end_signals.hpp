// SIGTERM and SIGINT end the run in order, as a title's exit does. SIGALRM ends the process at once, with the run's
// exit code: the alarm is set where a thread that stopped with a lock of ours could keep the orderly end from coming.
#pragma once

#include "guest-host/cpu/guest_process.hpp"

namespace orrery {

// Exit code of a run that was ended by a signal: 128 + its number.
inline constexpr int kEndedBySignal = 128;

// Blocks the signals in the calling thread and in all it starts from now on, and waits for them on a thread of its own,
// which lives as long as the process. Called before any other thread starts.
void watch_end_signals(cpu::GuestProcess& process);

}  // namespace orrery
