#include "guest-host/cpu/fault_report.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <string_view>

#include "guest-host/cpu/call_frame.hpp"
#include "guest-host/cpu/guest_thread.hpp"

// The text of crossing.S.
extern "C" {
extern const char orrery_exempt_begin[];
extern const char orrery_exempt_end[];
}

namespace orrery::cpu {

namespace {

// Reads without ever faulting; the guest's registers may point anywhere.
bool peek(uint64_t address, void* to, size_t size) {
  const iovec here{to, size};
  const iovec there{reinterpret_cast<void*>(address), size};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

std::string_view name_of_signal(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "memory access violation";
    case SIGBUS:
      return "bus error";
    case SIGILL:
      return "illegal instruction";
    case SIGFPE:
      return "arithmetic fault";
    case SIGTRAP:
      return "breakpoint";
    case SIGSYS:
      return "bad system call";
    default:
      return "signal";
  }
}

bool in_module(const GuestProcess& process, uint64_t address) {
  return process.module_at(GuestAddress{address}) != nullptr;
}

// As GuestProcess::describe has it.
class Place {
 public:
  Place(const GuestProcess& process, uint64_t address) {
    const ModuleRange* const module = process.module_at(GuestAddress{address});
    const auto written = module == nullptr ? fmt::format_to_n(text_, sizeof text_, "{:#x}", address)
                                           : fmt::format_to_n(text_, sizeof text_, "{}+{:#x}",
                                                              std::string_view(module->name).substr(0, 200),
                                                              address - module->begin.value);
    size_ = std::min(written.size, sizeof text_);
  }
  std::string_view text() const { return {text_, size_}; }

 private:
  char text_[256];
  size_t size_;
};

// No allocation and no lock: whoever faulted may hold the heap's. What does not fit is cut off.
class Report {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    const size_t room = sizeof text_ - 1 - size_;
    const auto written = fmt::format_to_n(text_ + size_, room, format, std::forward<Args>(args)...);
    size_ += std::min(written.size, room);
    if (size_ < sizeof text_) text_[size_++] = '\n';
    size_ = std::min(size_, sizeof text_ - 1);
  }
  ~Report() {
    size_t done = 0;
    while (done < size_) {
      const auto written = ::write(2, text_ + done, size_ - done);
      if (written <= 0) break;
      done += static_cast<size_t>(written);
    }
  }

 private:
  char text_[16384];
  size_t size_ = 0;
};

// Whatever the faulting thread holds, the process ends: whoever waits for SIGALRM ends it with the run's exit code. The
// time of an end in progress stays.
void end_if_stuck() {
  constexpr unsigned kSeconds = 10;
  if (const unsigned left = ::alarm(kSeconds); left != 0) ::alarm(left);
}

void add_registers(Report& report, const greg_t* regs) {
  const auto r = [&](int index) { return static_cast<uint64_t>(regs[index]); };
  report.line("  rax {:016x}  rbx {:016x}  rcx {:016x}  rdx {:016x}", r(REG_RAX), r(REG_RBX), r(REG_RCX), r(REG_RDX));
  report.line("  rsi {:016x}  rdi {:016x}  rbp {:016x}  rsp {:016x}", r(REG_RSI), r(REG_RDI), r(REG_RBP), r(REG_RSP));
  report.line("  r8  {:016x}  r9  {:016x}  r10 {:016x}  r11 {:016x}", r(REG_R8), r(REG_R9), r(REG_R10), r(REG_R11));
  report.line("  r12 {:016x}  r13 {:016x}  r14 {:016x}  r15 {:016x}", r(REG_R12), r(REG_R13), r(REG_R14), r(REG_R15));
  report.line("  rip {:016x}  flags {:x}", r(REG_RIP), r(REG_EFL));
}

// By the chain of frame pointers; where that ends at once, by what on the stack looks like a return address.
void add_backtrace(Report& report, GuestProcess& process, uint64_t rip, uint64_t rbp, uint64_t rsp) {
  report.line("guest backtrace:");
  int depth = 0;
  if (in_module(process, rip)) report.line("  #{} {}", depth++, Place(process, rip).text());
  // A function without a frame of its own (a leaf) has its return address on top of the stack, if at all.
  uint64_t top;
  if (peek(rsp, &top, sizeof top) && in_module(process, top)) {
    report.line("  ?  {} (on top of the stack)", Place(process, top).text());
  }
  uint64_t frame = rbp;
  bool chained = false;
  for (int i = 0; i < 32; ++i) {
    uint64_t words[2];
    if (frame < rsp || !peek(frame, words, sizeof words) || !in_module(process, words[1])) break;
    report.line("  #{} {}", depth++, Place(process, words[1]).text());
    chained = true;
    if (words[0] <= frame) break;
    frame = words[0];
  }
  if (chained) return;
  for (uint64_t at = align_down(rsp, 8) + 8, found = 0; at < rsp + 0x2000 && found < 8; at += 8) {
    uint64_t word;
    if (!peek(at, &word, sizeof word)) break;
    if (!in_module(process, word)) continue;
    report.line("  ?  {} (found on the stack at rsp+{:#x})", Place(process, word).text(), at - rsp);
    ++found;
  }
}

}  // namespace

bool report_fault(GuestThread& thread, int signal, const siginfo_t& info, const ucontext_t& context,
                  bool in_guest_code) {
  GuestProcess& process = thread.process();
  const greg_t* regs = context.uc_mcontext.gregs;
  const auto rip = static_cast<uint64_t>(regs[REG_RIP]);
  const CallFrame* const call = thread.record().frame;
  // A crossing faults when the guest's stack is not there.
  const bool crossing =
      rip >= reinterpret_cast<uint64_t>(orrery_exempt_begin) && rip < reinterpret_cast<uint64_t>(orrery_exempt_end);
  const bool guest_code = in_guest_code || crossing;
  if (!guest_code && call == nullptr) return false;
  end_if_stuck();
  {
    Report report;
    report.line("[guest] error: the title faulted in thread {} ({}): {}", thread.id(), thread.name(),
                name_of_signal(signal));
    const auto address = reinterpret_cast<uint64_t>(info.si_addr);
    const bool has_address = signal == SIGSEGV || signal == SIGBUS;
    if (guest_code) {
      const auto kind = static_cast<uint64_t>(regs[REG_ERR]);
      if (has_address) {
        report.line("at {}, {} {:#x}", Place(process, rip).text(),
                    rip == address    ? "executing"
                    : (kind & 2) != 0 ? "writing"
                                      : "reading",
                    address);
      } else {
        report.line("at {}", Place(process, rip).text());
      }
      if (crossing) report.line("on the way into or out of an import: its stack is not usable");
      if (rip < 0x10000) report.line("a jump to null: perhaps a weak import that nobody provides");
      add_registers(report, regs);
      add_backtrace(report, process, rip, static_cast<uint64_t>(regs[REG_RBP]), static_cast<uint64_t>(regs[REG_RSP]));
    } else {
      report.line("inside {} of {}, which the title called from {}", call->binding->name, call->binding->library,
                  Place(process, call->guest_return).text());
      if (has_address) report.line("touching {:#x}", address);
      report.line("with arguments {:#x}, {:#x}, {:#x}, {:#x}, {:#x}, {:#x}", call->integer[0], call->integer[1],
                  call->integer[2], call->integer[3], call->integer[4], call->integer[5]);
      add_backtrace(report, process, call->guest_return, call->guest_frame, call->guest_stack);
    }
  }
  process.end_and_wait({static_cast<int>(ExitCode::guest_fault)});
}

}  // namespace orrery::cpu
