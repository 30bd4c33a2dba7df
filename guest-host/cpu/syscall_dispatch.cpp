#include "guest-host/cpu/syscall_dispatch.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "guest-host/cpu/guest_thread.hpp"
#include "shared/log.hpp"

// The text of crossing.S: it may make system calls whatever the selector says.
extern "C" {
extern const char orrery_exempt_begin[];
extern const char orrery_exempt_end[];
}

// Debian 12's sys/prctl.h may lack these (linux/prctl.h has them).
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif

namespace orrery::cpu {

namespace {

struct NumberedName {
  uint64_t number;
  std::string_view name;
};
constexpr NumberedName kNames[] = {
#include "guest-host/cpu/syscall_names.inc"
};

constexpr uint64_t kFreebsdEfault = 14, kFreebsdEbadf = 9, kFreebsdEnosys = 78;
constexpr uint64_t kGuestProcessId = 2;

void answer_error(GuestSyscall& call, uint64_t freebsd_errno) {
  call.result = freebsd_errno;
  call.failed = true;
}

void serve_write(GuestThread& thread, GuestSyscall& call) {
  const uint64_t file = call.arguments[0];
  if (file != 1 && file != 2) return answer_error(call, kFreebsdEbadf);
  constexpr uint64_t kMost = 1 << 20;  // a short count is a valid answer
  std::vector<std::byte> bytes(std::min(call.arguments[2], kMost));
  if (!thread.process().memory().read(GuestAddress{call.arguments[1]}, bytes)) {
    return answer_error(call, kFreebsdEfault);
  }
  const auto written = ::write(static_cast<int>(file), bytes.data(), bytes.size());
  if (written < 0) return answer_error(call, 5);  // EIO
  call.result = static_cast<uint64_t>(written);
}

// Homebrew logs by operation 7: { 7, text, 0 }. Everything else of it is refused.
bool serve_debug_service(GuestThread& thread, GuestSyscall& call) {
  if (call.arguments[0] != 7) return false;
  auto text = thread.process().memory().read_string(GuestAddress{call.arguments[1]});
  if (!text) {
    answer_error(call, kFreebsdEfault);
    return true;
  }
  [[maybe_unused]] const auto written = ::write(1, text->data(), text->size());
  return true;
}

}  // namespace

bool dispatch_syscalls_of_this_thread(uint8_t* selector) {
  return ::prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, orrery_exempt_begin,
                 orrery_exempt_end - orrery_exempt_begin, selector) == 0;
}

void stop_dispatching_syscalls() { ::prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0); }

std::string syscall_name(uint64_t number) {
  for (const auto& known : kNames) {
    if (known.number == number) return fmt::format("{} ({})", known.name, number);
  }
  return fmt::format("number {}", number);
}

void serve_syscall(GuestThread& thread, GuestSyscall& call) {
  switch (call.number) {
    case 1:
      thread.process().exit_title(static_cast<int>(call.arguments[0]));
    case 4:
      return serve_write(thread, call);
    case 20:
      call.result = kGuestProcessId;
      return;
    case 331:
      ::sched_yield();
      return;
    case 601:
      if (serve_debug_service(thread, call)) return;
      break;
    default:
      break;
  }
  thread.process().refusals().refuse(fmt::format("system call {}", syscall_name(call.number)),
                                     fmt::format("arguments {:#x}, {:#x}, {:#x}; answered ENOSYS", call.arguments[0],
                                                 call.arguments[1], call.arguments[2]));
  answer_error(call, kFreebsdEnosys);
}

}  // namespace orrery::cpu
