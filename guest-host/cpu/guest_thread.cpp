#include "guest-host/cpu/guest_thread.hpp"

#include <asm/prctl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <thread>

#include "guest-host/cpu/asm_layout.h"
#include "guest-host/cpu/call_frame.hpp"
#include "guest-host/cpu/syscall_dispatch.hpp"
#include "shared/log.hpp"

// Read by crossing.S through the host's FS (policy patch).
extern "C" {
constinit thread_local orrery::cpu::ThreadRecord* orrery_thread_record = nullptr;
}

namespace orrery::cpu {

static_assert(offsetof(ThreadRecord, self) == RECORD_SELF && offsetof(ThreadRecord, host_fs) == RECORD_HOST_FS &&
              offsetof(ThreadRecord, guest_fs) == RECORD_GUEST_FS &&
              offsetof(ThreadRecord, host_stack) == RECORD_HOST_STACK &&
              offsetof(ThreadRecord, frame) == RECORD_FRAME && offsetof(ThreadRecord, selector) == RECORD_SELECTOR &&
              offsetof(ThreadRecord, base_stack) == RECORD_BASE_STACK &&
              offsetof(ThreadRecord, guest_mxcsr) == RECORD_GUEST_MXCSR &&
              offsetof(ThreadRecord, host_mxcsr) == RECORD_HOST_MXCSR);
static_assert(offsetof(CallFrame, integer) == FRAME_INTEGER && offsetof(CallFrame, vector) == FRAME_VECTOR &&
              offsetof(CallFrame, guest_stack) == FRAME_GUEST_STACK &&
              offsetof(CallFrame, guest_return) == FRAME_GUEST_RETURN &&
              offsetof(CallFrame, guest_frame) == FRAME_GUEST_FRAME && offsetof(CallFrame, binding) == FRAME_BINDING &&
              offsetof(CallFrame, outer) == FRAME_OUTER && offsetof(CallFrame, thread) == FRAME_THREAD &&
              offsetof(CallFrame, result) == FRAME_RESULT && offsetof(CallFrame, result_high) == FRAME_RESULT_HIGH &&
              offsetof(CallFrame, leave) == FRAME_LEAVE && sizeof(CallFrame) == FRAME_SIZE);
static_assert(offsetof(GuestEntry, address) == ENTRY_ADDRESS && offsetof(GuestEntry, stack) == ENTRY_STACK &&
              offsetof(GuestEntry, integer) == ENTRY_INTEGER);
static_assert(static_cast<int>(FsPolicy::fsgsbase) == POLICY_FSGSBASE &&
              static_cast<int>(FsPolicy::patch) == POLICY_PATCH &&
              static_cast<int>(FsPolicy::arch_prctl) == POLICY_ARCH_PRCTL);

namespace {

// The thread control block at the thread pointer: self, dtv, thread, two spare, stack guard, fiber (guest-abi.md 1.6),
// and behind them what we keep there.
constexpr uint64_t kStackGuardField = 0x28;
constexpr uint64_t kErrorField = 0x80;
constexpr uint64_t kControlBlockSize = 0x100;
constexpr uint64_t kSignalStackSize = 128 << 10;
constexpr uint64_t kMostStack = 1ull << 30;

std::atomic<uint64_t> next_thread_id{1};

}  // namespace

GuestThread* GuestThread::current() { return orrery_thread_record ? orrery_thread_record->thread : nullptr; }

GuestThread::GuestThread(GuestProcess& process, ThreadStart start)
    : process_(process), start_(std::move(start)), id_(next_thread_id++) {
  record_.self = &record_;
  record_.thread = this;
}

GuestThread::~GuestThread() {
  if (block_size_.value != 0) {
    if (auto done = process_.memory().unmap(block_begin_, block_size_); !done) {
      log::error("the stack of thread {} stays: {}", id_, done.error().describe());
    }
  }
}

// One block: unmapped guard, stack, TLS block, control block.
Result<void> GuestThread::prepare() {
  auto& memory = process_.memory();
  const TlsTemplate& tls = process_.tls();
  if (start_.stack_size.value > kMostStack) {
    return fail(ExitCode::guest_fault, "a stack of {:#x} bytes is too large", start_.stack_size.value);
  }
  stack_size_ = {align_up(std::max<uint64_t>(start_.stack_size.value, kGuestPage), kGuestPage)};
  const uint64_t tls_room = align_up(tls.distance, std::max<uint64_t>(tls.alignment, 64));
  const Bytes used{align_up(stack_size_.value + tls_room + kControlBlockSize, kGuestPage)};
  const Bytes whole{used.value + kGuestPage};
  auto place = memory.reserve(whole, {memory.layout().internal}, false, {kGuestPage});
  if (!place) return forward(std::move(place), "placing a thread's stack");
  block_begin_ = *place;
  block_size_ = whole;
  stack_begin_ = block_begin_ + Bytes{kGuestPage};
  auto mapped = memory.map({.kind = memory::MapKind::stack,
                            .size = used,
                            .address = stack_begin_,
                            .fixed = true,
                            .name = "stack:" + start_.name});
  if (!mapped) return forward(std::move(mapped), "mapping a thread's stack");

  const GuestAddress control{(stack_begin_ + used).value - kControlBlockSize};
  record_.guest_fs = control.value;
  error_address_ = control + Bytes{kErrorField};
  ORRERY_TRY(memory.write(control - Bytes{tls.distance}, tls.initial));
  ORRERY_TRY(memory.write_value(control, control.value));
  ORRERY_TRY(memory.write_value(control + Bytes{kStackGuardField}, process_.stack_guard()));

  const GuestAddress top{control.value - tls_room};
  entry_.address = start_.entry.value;
  if (start_.program) return write_program_arguments(top);
  entry_.integer[0] = start_.arguments[0];
  entry_.integer[1] = start_.arguments[1];
  entry_.stack = align_down(top.value, 16) - 8;
  return memory.write_value(GuestAddress{entry_.stack},
                            reinterpret_cast<uint64_t>(crossing_of(process_.policy()).guest_return));
}

// rdi -> { i32 argc; i32 pad; char* argv[]; null }; its first two words are on top of the stack too.
Result<void> GuestThread::write_program_arguments(GuestAddress top) {
  auto& memory = process_.memory();
  const auto& argv = start_.program->argv;
  uint64_t size = 8 * (argv.size() + 2);
  for (const auto& text : argv) size += text.size() + 1;
  if (size > stack_size_.value / 2) return fail(ExitCode::usage, "the title's arguments take {} bytes, too many", size);
  const GuestAddress block{align_down(top.value - size, 16)};
  std::vector<uint64_t> words{argv.size()};
  GuestAddress text_at = block + Bytes{8 * (argv.size() + 2)};
  for (const auto& text : argv) {
    words.push_back(text_at.value);
    ORRERY_TRY(memory.write(text_at, std::as_bytes(std::span(text.c_str(), text.size() + 1))));
    text_at = text_at + Bytes{text.size() + 1};
  }
  words.push_back(0);
  ORRERY_TRY(memory.write(block, std::as_bytes(std::span(words))));
  entry_.integer[0] = block.value;
  entry_.integer[1] = start_.program->exit_function.value;
  entry_.stack = align_down(block.value, 16) - 24;
  return memory.write(GuestAddress{entry_.stack}, std::as_bytes(std::span(words).first(2)));
}

Result<std::shared_ptr<GuestThread>> GuestThread::start(GuestProcess& process, ThreadStart start) {
  std::shared_ptr<GuestThread> thread(new GuestThread(process, std::move(start)));
  ORRERY_TRY(thread->prepare());
  void* const stack = ::mmap(nullptr, kSignalStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return fail(ExitCode::internal, "no memory for a signal stack: {}", std::strerror(errno));
  thread->signal_stack_ = Mapping(stack, kSignalStackSize);
  try {
    std::thread([thread] { thread->run(); }).detach();
  } catch (const std::system_error& e) {
    return fail(ExitCode::internal, "the host cannot start a thread: {}", e.what());
  }
  return thread;
}

// Puts the host thread into the state that guest code needs.
bool GuestThread::switch_on() {
  stack_t alternate{};
  alternate.ss_sp = signal_stack_.data();
  alternate.ss_size = signal_stack_.size();
  if (::sigaltstack(&alternate, nullptr) != 0) return false;
  uint64_t host_fs = 0;
  ::syscall(SYS_arch_prctl, ARCH_GET_FS, &host_fs);
  record_.host_fs = host_fs;
  const bool gs_is_guests = process_.policy() == FsPolicy::patch;
  const uint64_t gs = gs_is_guests ? record_.guest_fs : reinterpret_cast<uint64_t>(&record_);
  if (::syscall(SYS_arch_prctl, ARCH_SET_GS, gs) != 0) return false;
  orrery_thread_record = &record_;
  return dispatch_syscalls_of_this_thread(&record_.selector);
}

void GuestThread::run() {
  ::pthread_setname_np(::pthread_self(), start_.name.empty() ? "guest" : start_.name.substr(0, 15).c_str());
  if (!switch_on()) {
    log::critical("this kernel has no Syscall User Dispatch (Linux 5.11 or newer is needed): {}", std::strerror(errno));
    process_.end_and_wait({static_cast<int>(ExitCode::internal)});
  }
  if (start_.at_begin) start_.at_begin();
  const uint64_t result = crossing_of(process_.policy()).enter(&record_, &entry_);
  if (start_.at_end) start_.at_end(*this, result);
  stop_dispatching_syscalls();
  orrery_thread_record = nullptr;
  ::syscall(SYS_arch_prctl, ARCH_SET_GS, 0);
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
}

uint64_t GuestThread::call(GuestAddress function, std::array<uint64_t, 6> arguments) {
  GuestEntry entry{.address = function.value};
  for (size_t i = 0; i < arguments.size(); ++i) entry.integer[i] = arguments[i];
  // Below the red zone of the code that called the import; on a fresh stack when nothing has run yet.
  const uint64_t stack = record_.frame != nullptr ? record_.frame->guest_stack : entry_.stack;
  entry.stack = align_down(stack - 128, 16) - 8;
  const auto back = reinterpret_cast<uint64_t>(crossing_of(process_.policy()).guest_return);
  if (auto done = process_.memory().write_value(GuestAddress{entry.stack}, back); !done) {
    log::error("cannot call the guest's {}: its stack is used up", process_.describe(function));
    process_.end_and_wait({static_cast<int>(ExitCode::guest_fault)});
  }
  return crossing_of(process_.policy()).enter(&record_, &entry);
}

void GuestThread::leave(uint64_t result) {
  record_.frame->result = result;
  record_.frame->leave = 1;
}

}  // namespace orrery::cpu
