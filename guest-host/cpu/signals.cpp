#include "guest-host/cpu/signals.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "guest-host/cpu/fault_report.hpp"
#include "guest-host/cpu/guest_thread.hpp"
#include "guest-host/cpu/syscall_dispatch.hpp"

extern "C" {
void orrery_signal_entry(int, siginfo_t*, void*);
void orrery_signal_return();
// Which policy's way the entry uses to find the thread's record.
int orrery_signal_policy = 0;
void orrery_on_signal(int signal, siginfo_t* info, ucontext_t* context, orrery::cpu::ThreadRecord* record,
                      int in_guest_code);
}

namespace orrery::cpu {

namespace {

// The kernel's own structure: glibc's sigaction would install its own return code, which Syscall User Dispatch blocks.
struct KernelSigaction {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};
constexpr unsigned long kSaRestorer = 0x04000000;
constexpr int kSysUserDispatch = 2;  // si_code
constexpr uint64_t kCarryFlag = 1;

void serve_blocked_syscall(GuestThread& thread, ucontext_t& context) {
  auto* regs = context.uc_mcontext.gregs;
  const auto reg = [&](int index) { return static_cast<uint64_t>(regs[index]); };
  GuestSyscall call;
  call.number = reg(REG_RAX);
  const int order[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
  size_t first = 0;
  if (call.number == 0 || call.number == 198) {  // syscall, __syscall: the number is the first argument
    call.number = reg(REG_RDI);
    first = 1;
  }
  for (size_t i = first; i < 6; ++i) call.arguments[i - first] = reg(order[i]);
  serve_syscall(thread, call);
  regs[REG_RAX] = static_cast<greg_t>(call.result);
  const uint64_t flags = reg(REG_EFL);
  regs[REG_EFL] = static_cast<greg_t>(call.failed ? flags | kCarryFlag : flags & ~kCarryFlag);
}

WriteFaultHook write_fault_hook = nullptr;
void* write_fault_context = nullptr;

bool served_write_fault(int signal, const siginfo_t& info, const ucontext_t& context) {
  constexpr greg_t kWrite = 2;  // of the page fault's error code
  return signal == SIGSEGV && write_fault_hook != nullptr && (context.uc_mcontext.gregs[REG_ERR] & kWrite) != 0 &&
         write_fault_hook(write_fault_context, reinterpret_cast<uint64_t>(info.si_addr));
}

// Not a guest thread, or not the guest's doing: our own bug, with the signal's usual end.
void die_by(int signal) {
  const char text[] = "[guest] critical: orrery-guest itself received a fatal signal\n";
  [[maybe_unused]] const auto written = ::write(2, text, sizeof text - 1);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void set_write_fault_hook(WriteFaultHook hook, void* context) {
  write_fault_context = context;
  write_fault_hook = hook;
}

Result<void> install_signal_handlers(FsPolicy policy) {
  orrery_signal_policy = static_cast<int>(policy);
  KernelSigaction action{};
  action.handler = orrery_signal_entry;
  action.flags = SA_SIGINFO | SA_ONSTACK | kSaRestorer;
  action.restorer = orrery_signal_return;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) {
    if (::syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask) != 0) {
      return fail(ExitCode::internal, "cannot install a handler for signal {}: {}", signal, std::strerror(errno));
    }
  }
  return {};
}

}  // namespace orrery::cpu

void orrery_on_signal(int signal, siginfo_t* info, ucontext_t* context, orrery::cpu::ThreadRecord* record,
                      int in_guest_code) {
  using namespace orrery::cpu;
  const int saved_errno = errno;
  if (served_write_fault(signal, *info, *context)) {
    errno = saved_errno;
    return;
  }
  if (record == nullptr || record->thread == nullptr) {
    die_by(signal);
    return;
  }
  if (signal == SIGSYS && info->si_code == kSysUserDispatch) {
    serve_blocked_syscall(*record->thread, *context);
  } else if (!report_fault(*record->thread, signal, *info, *context, in_guest_code != 0)) {
    die_by(signal);
  }
  errno = saved_errno;
}
