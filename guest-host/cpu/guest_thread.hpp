// A thread of the title: a host thread that runs guest code on a guest stack and its import handlers on the host stack.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guest-host/cpu/crossing.hpp"
#include "guest-host/cpu/guest_process.hpp"

namespace orrery::cpu {

struct CallFrame;
class GuestThread;

// What the assembly knows of a thread (asm_layout.h). In the policies fsgsbase and
// arch_prctl the GS base points here while the thread lives.
struct ThreadRecord {
  ThreadRecord* self = nullptr;
  uint64_t host_fs = 0;
  uint64_t guest_fs = 0;
  uint64_t host_stack = 0;     // import calls start here
  CallFrame* frame = nullptr;  // innermost import call in progress
  uint8_t selector = 0;        // Syscall User Dispatch: 0 host code (allow), 1 guest code (block)
  uint8_t padding[7] = {};
  uint64_t base_stack = 0;  // where the thread's first entry into guest code left the host's stack
  // The console starts with denormals flushed to zero, in inputs and results (clang's target description).
  uint32_t guest_mxcsr = 0x9fc0;
  uint32_t host_mxcsr = 0;
  GuestThread* thread = nullptr;
};

// The first thread's arguments, by the entry convention of executables (guest-abi.md 1.7).
struct ProgramArguments {
  std::vector<std::string> argv;
  GuestAddress exit_function;
};

struct ThreadStart {
  GuestAddress entry;
  std::array<uint64_t, 2> arguments{};  // rdi, rsi
  Bytes stack_size = {1 << 20};         // rounded up to 16 KiB; an unmapped guard lies below
  std::string name;
  std::optional<ProgramArguments> program;  // instead of `arguments`
  // Runs on the thread itself before its guest code.
  std::function<void()> at_begin;
  // Runs on the thread itself after its guest code returned or left, before its stack goes away.
  std::function<void(GuestThread&, uint64_t result)> at_end;
};

class GuestThread {
 public:
  // The calling thread, nullptr when it is no guest thread.
  static GuestThread* current();
  // Allocates stack and TLS in the arena and starts. The thread is detached: at_end is how others learn of its end.
  static Result<std::shared_ptr<GuestThread>> start(GuestProcess& process, ThreadStart start);
  ~GuestThread();
  GuestThread(const GuestThread&) = delete;
  GuestThread& operator=(const GuestThread&) = delete;

  uint64_t id() const { return id_; }  // 1 is the first thread
  const std::string& name() const { return start_.name; }
  GuestProcess& process() { return process_; }
  GuestAddress thread_pointer() const { return {record_.guest_fs}; }
  GuestAddress stack_begin() const { return stack_begin_; }
  Bytes stack_size() const { return stack_size_; }
  // The FreeBSD errno of the thread, in guest memory (__error answers its address).
  GuestAddress error_address() const { return error_address_; }
  ThreadRecord& record() { return record_; }

  // Calls guest code from inside an import handler of this thread, on the guest's stack; answers rax. Arguments are
  // integers or addresses.
  uint64_t call(GuestAddress function, std::array<uint64_t, 6> arguments);
  // Makes the thread end with `result` when the running import handler returns (scePthreadExit).
  void leave(uint64_t result);

 private:
  GuestThread(GuestProcess& process, ThreadStart start);
  Result<void> prepare();
  Result<void> write_program_arguments(GuestAddress top);
  void run();
  bool switch_on();

  GuestProcess& process_;
  ThreadStart start_;
  ThreadRecord record_;
  uint64_t id_ = 0;
  GuestAddress stack_begin_;
  Bytes stack_size_;
  GuestAddress error_address_;
  GuestAddress block_begin_;
  Bytes block_size_;
  GuestEntry entry_;
  Mapping signal_stack_;
};

}  // namespace orrery::cpu
