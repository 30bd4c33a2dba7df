// The title's threads as its library sees them: handles, joining, detaching. Running them is cpu/guest_thread's.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "guest-host/clock/guest_clock.hpp"
#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/pthread/sync_objects.hpp"

namespace orrery::hle::pthread {

struct ThreadRequest {
  GuestAddress entry;
  uint64_t argument = 0;
  Bytes stack_size{1 << 20};
  bool detached = false;
  std::string name;
};

class Threads {
 public:
  Threads(Environment& environment, clock::GuestClock& clock)
      : environment_(environment), clock_(clock), objects_(environment.memory) {}

  // All answer 0 or a FreeBSD errno.
  int create(const ThreadRequest& request, uint64_t& handle);
  int join(uint64_t handle, uint64_t& result);
  int detach(uint64_t handle);
  // Ends the calling thread with `result` once its handler returns.
  void exit(uint64_t result);
  // The calling thread's handle; a thread of the host gets one too.
  uint64_t self();

  SyncObjects& objects() { return objects_; }
  clock::GuestClock& clock() { return clock_; }

 private:
  struct Thread {
    bool made = false;  // by `create`
    bool finished = false, detached = false, joined = false;
    uint64_t result = 0;
  };
  void finish(uint64_t handle, uint64_t result);

  Environment& environment_;
  clock::GuestClock& clock_;
  SyncObjects objects_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::map<uint64_t, std::shared_ptr<Thread>> threads_;
  std::map<uint64_t, uint64_t> handles_;  // guest thread id -> handle
  uint64_t next_ = 1;
};

}  // namespace orrery::hle::pthread
