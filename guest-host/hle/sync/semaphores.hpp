// Counting semaphores of libkernel.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "guest-host/clock/guest_clock.hpp"

namespace orrery::hle::sync {

class Semaphores {
 public:
  Semaphores() = default;

  // 0 for values that make no semaphore.
  uint64_t create(int32_t initial, int32_t most);
  // All answer 0 or a FreeBSD errno: ESRCH when there is no such semaphore.
  int destroy(uint64_t handle);  // its waiters get EACCES
  int signal(uint64_t handle, int32_t count);
  int wait(uint64_t handle, int32_t need, const clock::Deadline& deadline);
  int poll(uint64_t handle, int32_t need);
  // Sets the count (negative: the initial one); waiters get ECANCELED. Answers how many there were.
  int cancel(uint64_t handle, int32_t count, uint32_t& waiters);

 private:
  struct Semaphore {
    int32_t initial, most, count;
    uint32_t waiters = 0;
    uint64_t cancels = 0;
    bool destroyed = false;
    std::condition_variable changed;
  };
  std::shared_ptr<Semaphore> find(uint64_t handle) const;

  mutable std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Semaphore>> semaphores_;
  uint64_t next_ = 1;
};

}  // namespace orrery::hle::sync
