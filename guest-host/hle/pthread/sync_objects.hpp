// Mutexes and condition variables of the title. The guest's variable holds a handle; the objects are ours.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "guest-host/clock/guest_clock.hpp"
#include "guest-host/memory/guest_memory.hpp"

namespace orrery::hle::pthread {

// FreeBSD's numbers; the console accepts 1 to 4.
enum class MutexType : uint32_t { error_check = 1, recursive = 2, normal = 3, adaptive = 4 };

class Mutex {
 public:
  explicit Mutex(MutexType type) : type_(type) {}
  // All answer 0 or a FreeBSD errno. `thread` is not 0.
  int lock(uint64_t thread, const clock::Deadline& deadline = {});
  int try_lock(uint64_t thread);
  int unlock(uint64_t thread);
  bool locked() const;
  // Unlocks whatever the depth; answers the depth, 0 when the thread does not hold it.
  uint32_t release_all(uint64_t thread);
  void reacquire(uint64_t thread, uint32_t depth, const clock::Deadline& never);

 private:
  const MutexType type_;
  mutable std::mutex mutex_;
  std::condition_variable free_;
  uint64_t owner_ = 0;
  uint32_t depth_ = 0;
};

// Wakes in the order of waiting: a signal belongs to a thread that waited when it was given, never to one that comes
// later (a barrier that is used again depends on that).
class Condition {
 public:
  // The caller holds `mutex`; holds it again afterwards. 0, EPERM or ETIMEDOUT.
  int wait(Mutex& mutex, uint64_t thread, const clock::Deadline& deadline);
  void signal();
  void broadcast();

 private:
  struct Waiter {
    bool woken = false;
    std::condition_variable wake;
  };
  void wake_first();

  std::mutex mutex_;
  std::deque<Waiter*> waiters_;  // not woken yet, the longest waiting first
};

// The objects behind the guest's variables. A variable holds 0 or 1 (static initialisers: default and adaptive) or a
// handle of ours; anything else is answered with EINVAL.
class SyncObjects {
 public:
  explicit SyncObjects(memory::GuestMemory& memory) : memory_(memory) {}
  int create_mutex(GuestAddress variable, MutexType type);
  int create_condition(GuestAddress variable);
  // Finds, or makes for a static initialiser. Nothing for a bad variable.
  std::shared_ptr<Mutex> mutex(GuestAddress variable);
  std::shared_ptr<Condition> condition(GuestAddress variable);
  int destroy_mutex(GuestAddress variable);
  int destroy_condition(GuestAddress variable);

 private:
  template <class T, class Make>
  std::shared_ptr<T> find_or_make(std::unordered_map<uint64_t, std::shared_ptr<T>>& table, GuestAddress variable,
                                  Make make);
  memory::GuestMemory& memory_;
  std::mutex mutex_;
  uint64_t next_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<Mutex>> mutexes_;
  std::unordered_map<uint64_t, std::shared_ptr<Condition>> conditions_;
};

}  // namespace orrery::hle::pthread
