#include "guest-host/hle/pthread/threads.hpp"

#include <atomic>

#include "guest-host/cpu/guest_thread.hpp"
#include "guest-host/hle/registry.hpp"

namespace orrery::hle::pthread {
namespace {

constexpr uint64_t kHandleBase = 0x5448'0000'0000'0000;
// Threads of the host that call a handler (tests) are told apart too.
constexpr uint64_t kHostHandleBase = 0x484f'0000'0000'0000;
constexpr uint64_t kMostThreads = 1024;

}  // namespace

int Threads::create(const ThreadRequest& request, uint64_t& handle) {
  if (!environment_.memory.covers(request.entry, Bytes{1}, memory::kCpuExecute)) return kEinval;
  auto record = std::make_shared<Thread>();
  record->detached = request.detached;
  record->made = true;
  {
    const std::lock_guard lock(mutex_);
    if (threads_.size() >= kMostThreads) return kEagain;
    handle = kHandleBase + next_++;
    threads_.emplace(handle, record);
  }
  cpu::ThreadStart start;
  start.entry = request.entry;
  start.arguments = {request.argument, 0};
  start.stack_size = request.stack_size;
  start.name = request.name;
  clock::Turns* const turns = clock_.turns();
  const uint64_t turn = turns == nullptr ? 0 : turns->enroll();
  if (turns != nullptr) start.at_begin = [turns, turn] { turns->begin(turn); };
  start.at_end = [this, handle, turns](cpu::GuestThread& thread, uint64_t result) {
    {
      const std::lock_guard lock(mutex_);
      handles_.erase(thread.id());
    }
    finish(handle, result);
    if (turns != nullptr) turns->end();
  };
  // The new thread may ask for itself before we know its id: it waits for the lock.
  const std::lock_guard lock(mutex_);
  auto started = cpu::GuestThread::start(environment_.process, std::move(start));
  if (!started) {
    environment_.refusals.refuse("scePthreadCreate", started.error().describe());
    threads_.erase(handle);
    if (turns != nullptr) turns->withdraw(turn);
    return kEagain;
  }
  handles_[(*started)->id()] = handle;
  return 0;
}

void Threads::finish(uint64_t handle, uint64_t result) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = threads_.find(handle);
    if (found == threads_.end()) return;
    found->second->finished = true;
    found->second->result = result;
    if (found->second->detached) threads_.erase(found);
  }
  finished_.notify_all();
}

int Threads::join(uint64_t handle, uint64_t& result) {
  const uint64_t caller = self();
  std::unique_lock lock(mutex_);
  const auto found = threads_.find(handle);
  if (found == threads_.end()) return kEsrch;
  const auto thread = found->second;
  if (thread->detached || thread->joined) return kEinval;
  if (handle == caller) return kEdeadlk;
  thread->joined = true;
  clock::Waiting waiting(clock::Deadline::never(clock_));
  while (!thread->finished) waiting.sleep(finished_, lock);
  result = thread->result;
  threads_.erase(handle);
  return 0;
}

int Threads::detach(uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = threads_.find(handle);
  if (found == threads_.end()) return kEsrch;
  if (found->second->detached || found->second->joined) return kEinval;
  found->second->detached = true;
  if (found->second->finished) threads_.erase(found);
  return 0;
}

void Threads::exit(uint64_t result) {
  cpu::GuestThread* const thread = cpu::GuestThread::current();
  if (thread == nullptr) return;
  thread->leave(result);
  // The first thread, which nobody of ours made, runs no more guest code; the others say so at their end.
  bool made_by_us = false;
  {
    const std::lock_guard lock(mutex_);
    const auto known = handles_.find(thread->id());
    made_by_us = known != handles_.end() && threads_.contains(known->second) && threads_[known->second]->made;
  }
  if (!made_by_us && clock_.turns() != nullptr) clock_.turns()->end();
}

uint64_t Threads::self() {
  cpu::GuestThread* thread = cpu::GuestThread::current();
  if (thread == nullptr) {
    static std::atomic<uint64_t> next_host{1};
    thread_local const uint64_t mine = kHostHandleBase + next_host.fetch_add(1);
    return mine;
  }
  const std::lock_guard lock(mutex_);
  if (const auto known = handles_.find(thread->id()); known != handles_.end()) return known->second;
  // A thread that we did not start: the first one.
  const uint64_t handle = kHandleBase + next_++;
  threads_.emplace(handle, std::make_shared<Thread>());
  handles_.emplace(thread->id(), handle);
  return handle;
}

}  // namespace orrery::hle::pthread
