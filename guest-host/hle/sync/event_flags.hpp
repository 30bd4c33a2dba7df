// Event flags of libkernel: 64 bits that threads set, clear and wait for. Numbers of modes and attributes as in the
// headers of free toolchains for the console.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "guest-host/clock/guest_clock.hpp"

namespace orrery::hle::sync {

class EventFlags {
 public:
  // Of `attributes`, only how many threads may wait matters here; the order of waiting is that of arrival.
  static constexpr uint32_t kSingle = 0x10, kMulti = 0x20;
  // Of a wait's `mode`: all bits or any; and what is cleared when it is satisfied.
  static constexpr uint32_t kAll = 1, kAny = 2, kClearAll = 0x10, kClearBits = 0x20;

  // 0 for attributes that make no flag.
  uint64_t create(uint32_t attributes, uint64_t initial);
  // All answer 0 or a FreeBSD errno: ESRCH when there is no such flag, EINVAL for no bits or a bad mode.
  int destroy(uint64_t handle);  // its waiters get EACCES
  int set(uint64_t handle, uint64_t bits);
  int clear(uint64_t handle, uint64_t keep);  // bits that are not in `keep`
  // `seen`: the bits as they were when the wait was satisfied (before clearing), or when it ended without.
  // ETIMEDOUT, EACCES, ECANCELED; EPERM: the flag is for one waiter and has one.
  int wait(uint64_t handle, uint64_t bits, uint32_t mode, uint64_t& seen, const clock::Deadline& deadline);
  int poll(uint64_t handle, uint64_t bits, uint32_t mode, uint64_t& seen);  // EBUSY: not now
  // Sets all bits; waiters get ECANCELED. Answers how many there were.
  int cancel(uint64_t handle, uint64_t bits, uint32_t& waiters);

 private:
  struct Flag {
    bool single = false;
    uint64_t bits = 0;
    uint32_t waiters = 0;
    uint64_t cancels = 0;
    bool destroyed = false;
    std::condition_variable changed;
  };
  std::shared_ptr<Flag> find(uint64_t handle) const;

  mutable std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Flag>> flags_;
  uint64_t next_ = 1;
};

}  // namespace orrery::hle::sync
