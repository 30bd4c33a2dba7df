// Syscall User Dispatch: a system call instruction in guest code never reaches the host's kernel. It arrives here as
// SIGSYS; the few FreeBSD calls that titles make by number are served, the others are refused by name.
#pragma once

#include <cstdint>
#include <string>

namespace orrery::cpu {

class GuestThread;

// From now on system calls of this thread are blocked while *selector is 1. False when the kernel can't.
bool dispatch_syscalls_of_this_thread(uint8_t* selector);
void stop_dispatching_syscalls();

// A call as the guest made it, and its answer in FreeBSD's manner.
struct GuestSyscall {
  uint64_t number = 0;
  uint64_t arguments[6] = {};
  uint64_t result = 0;
  bool failed = false;  // carry flag; result is an errno
};
void serve_syscall(GuestThread& thread, GuestSyscall& call);
// "getpid (20)", "number 12345".
std::string syscall_name(uint64_t number);

}  // namespace orrery::cpu
