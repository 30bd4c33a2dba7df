// The running title: its memory, its modules, its threads' common properties, and how it ends.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "guest-host/cpu/fs_policy.hpp"
#include "guest-host/cpu/refusals.hpp"
#include "guest-host/memory/guest_memory.hpp"
#include "shared/error.hpp"

namespace orrery::cpu {

// A loaded file, for reports.
struct ModuleRange {
  std::string name;
  GuestAddress begin;
  GuestAddress end;
};

// The initial contents of a thread's static TLS block (one executable; variant II: it lies below the thread pointer).
struct TlsTemplate {
  std::vector<std::byte> initial;
  uint64_t size = 0;       // bytes, initial.size() and zeroes
  uint64_t alignment = 1;  // a power of two
  uint64_t distance = 0;   // bytes from the block's first byte up to the thread pointer
};

struct RunEnd {
  int exit_code = 0;
};

class GuestProcess {
 public:
  GuestProcess(memory::GuestMemory& memory, Refusals& refusals, FsPolicy policy)
      : memory_(memory), refusals_(refusals), policy_(policy) {}

  memory::GuestMemory& memory() { return memory_; }
  Refusals& refusals() { return refusals_; }
  FsPolicy policy() const { return policy_; }
  const TlsTemplate& tls() const { return tls_; }
  void set_tls(TlsTemplate tls) { tls_ = std::move(tls); }
  // What threads find in __stack_chk_guard and at thread pointer + 0x28.
  uint64_t stack_guard() const { return stack_guard_; }
  void set_stack_guard(uint64_t value) { stack_guard_ = value; }

  void add_module(ModuleRange module);
  // The module that holds an address; nullptr when none does. No lock and no allocation: for signal handlers.
  const ModuleRange* module_at(GuestAddress address) const;
  // "eboot.bin+0x1234", or the bare address.
  std::string describe(GuestAddress address) const;

  // Asks the run to end; the first one counts. Returns at once: the caller then blocks or goes on as it likes.
  void end(RunEnd end);
  // Never returns: for handlers of exit and for faults. The process's main thread ends the process.
  [[noreturn]] void end_and_wait(RunEnd end);
  // The title's own exit with any code; what is not 0..63 is reported as 63, so that ours stay distinct.
  [[noreturn]] void exit_title(int code);
  RunEnd wait_for_end();
  // The exit code the run ends with; guest_fault before `end`, for a fault whose report is stuck. No lock.
  int exit_code() const { return exit_code_.load(); }

 private:
  memory::GuestMemory& memory_;
  Refusals& refusals_;
  FsPolicy policy_;
  TlsTemplate tls_;
  uint64_t stack_guard_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  RunEnd end_;
  std::atomic<int> exit_code_{static_cast<int>(ExitCode::guest_fault)};
  struct Module {
    ModuleRange range;
    const Module* older;
  };
  std::deque<Module> modules_;  // only grows; read through newest_
  std::atomic<const Module*> newest_{nullptr};
};

}  // namespace orrery::cpu
