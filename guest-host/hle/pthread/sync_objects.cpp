#include "guest-host/hle/pthread/sync_objects.hpp"

#include <utility>

#include "guest-host/hle/registry.hpp"

namespace orrery::hle::pthread {
namespace {

// Handles: high enough to be told from static initialisers and from guest addresses.
constexpr uint64_t kFirstHandle = 0x5359'0000'0000'0001;
constexpr uint64_t kAdaptiveInitialiser = 1;
constexpr uint64_t kDestroyed = 2;

}  // namespace

int Mutex::try_lock(uint64_t thread) {
  const std::lock_guard lock(mutex_);
  if (owner_ == 0) {
    owner_ = thread;
    depth_ = 1;
    return 0;
  }
  if (owner_ != thread || type_ != MutexType::recursive) return kEbusy;
  if (depth_ == UINT32_MAX) return kEagain;
  ++depth_;
  return 0;
}

int Mutex::lock(uint64_t thread, const clock::Deadline& deadline) {
  std::unique_lock lock(mutex_);
  if (owner_ == thread) {
    if (type_ == MutexType::recursive && depth_ != UINT32_MAX) {
      ++depth_;
      return 0;
    }
    // A normal mutex locked twice waits for ever, as it would on the console.
    if (type_ != MutexType::normal) return type_ == MutexType::recursive ? kEagain : kEdeadlk;
  }
  clock::Waiting waiting(deadline);
  while (owner_ != 0) {
    if (waiting.over()) return kEtimedout;
    waiting.sleep(free_, lock);
  }
  owner_ = thread;
  depth_ = 1;
  return 0;
}

int Mutex::unlock(uint64_t thread) {
  {
    const std::lock_guard lock(mutex_);
    if (owner_ != thread) return kEperm;
    if (--depth_ > 0) return 0;
    owner_ = 0;
  }
  free_.notify_one();
  return 0;
}

bool Mutex::locked() const {
  const std::lock_guard lock(mutex_);
  return owner_ != 0;
}

uint32_t Mutex::release_all(uint64_t thread) {
  uint32_t depth = 0;
  {
    const std::lock_guard lock(mutex_);
    if (owner_ != thread) return 0;
    depth = std::exchange(depth_, 0u);
    owner_ = 0;
  }
  free_.notify_one();
  return depth;
}

void Mutex::reacquire(uint64_t thread, uint32_t depth, const clock::Deadline& never) {
  std::unique_lock lock(mutex_);
  clock::Waiting waiting(never);
  while (owner_ != 0) waiting.sleep(free_, lock);
  owner_ = thread;
  depth_ = depth;
}

int Condition::wait(Mutex& mutex, uint64_t thread, const clock::Deadline& deadline) {
  int result = 0;
  uint32_t depth = 0;
  {
    std::unique_lock lock(mutex_);
    // Inside our lock, so that a signal between the release and the wait is not lost.
    depth = mutex.release_all(thread);
    if (depth == 0) return kEperm;
    Waiter self;
    waiters_.push_back(&self);
    clock::Waiting waiting(deadline);
    while (!self.woken) {
      if (waiting.over()) {
        std::erase(waiters_, &self);
        result = kEtimedout;
        break;
      }
      waiting.sleep(self.wake, lock);
    }
  }
  mutex.reacquire(thread, depth, deadline.without_limit());
  return result;
}

void Condition::wake_first() {
  Waiter& first = *waiters_.front();
  waiters_.pop_front();
  first.woken = true;
  // Under our lock: the waiter lies on its thread's stack, which it leaves once it has the lock.
  first.wake.notify_one();
}

void Condition::signal() {
  const std::lock_guard lock(mutex_);
  if (!waiters_.empty()) wake_first();
}

void Condition::broadcast() {
  const std::lock_guard lock(mutex_);
  while (!waiters_.empty()) wake_first();
}

template <class T, class Make>
std::shared_ptr<T> SyncObjects::find_or_make(std::unordered_map<uint64_t, std::shared_ptr<T>>& table,
                                             GuestAddress variable, Make make) {
  const std::lock_guard lock(mutex_);
  const auto value = memory_.read_value<uint64_t>(variable);
  if (!value) return nullptr;
  if (const auto found = table.find(*value); found != table.end()) return found->second;
  if (*value > kAdaptiveInitialiser) return nullptr;
  auto object = make(*value);
  const uint64_t handle = kFirstHandle + next_++;
  if (!memory_.write_value(variable, handle)) return nullptr;
  table.emplace(handle, object);
  return object;
}

std::shared_ptr<Mutex> SyncObjects::mutex(GuestAddress variable) {
  return find_or_make(mutexes_, variable, [](uint64_t initialiser) {
    const bool adaptive = initialiser == kAdaptiveInitialiser;
    return std::make_shared<Mutex>(adaptive ? MutexType::adaptive : MutexType::error_check);
  });
}

std::shared_ptr<Condition> SyncObjects::condition(GuestAddress variable) {
  return find_or_make(conditions_, variable, [](uint64_t) { return std::make_shared<Condition>(); });
}

int SyncObjects::create_mutex(GuestAddress variable, MutexType type) {
  const std::lock_guard lock(mutex_);
  const uint64_t handle = kFirstHandle + next_++;
  if (!memory_.write_value(variable, handle)) return kEfault;
  mutexes_.emplace(handle, std::make_shared<Mutex>(type));
  return 0;
}

int SyncObjects::create_condition(GuestAddress variable) {
  const std::lock_guard lock(mutex_);
  const uint64_t handle = kFirstHandle + next_++;
  if (!memory_.write_value(variable, handle)) return kEfault;
  conditions_.emplace(handle, std::make_shared<Condition>());
  return 0;
}

int SyncObjects::destroy_mutex(GuestAddress variable) {
  const auto object = mutex(variable);
  if (!object) return kEinval;
  if (object->locked()) return kEbusy;
  const std::lock_guard lock(mutex_);
  const auto handle = memory_.read_value<uint64_t>(variable);
  if (!handle || mutexes_.erase(*handle) == 0) return kEinval;
  return memory_.write_value(variable, kDestroyed) ? 0 : kEfault;
}

int SyncObjects::destroy_condition(GuestAddress variable) {
  if (!condition(variable)) return kEinval;
  const std::lock_guard lock(mutex_);
  const auto handle = memory_.read_value<uint64_t>(variable);
  if (!handle || conditions_.erase(*handle) == 0) return kEinval;
  return memory_.write_value(variable, kDestroyed) ? 0 : kEfault;
}

}  // namespace orrery::hle::pthread
