// Kernel event queues (kqueue as the console's libkernel shows it). Every trigger of a registration is kept until it is
// taken, in order, so that what a title sees does not depend on how fast it looks. A trigger that finds kMostKept
// events replaces the last of them; that is counted and said as a refusal.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "guest-host/clock/guest_clock.hpp"
#include "guest-host/hle/refusals.hpp"

namespace orrery::hle::equeue {

// As in guest memory, 32 bytes.
struct KernelEvent {
  uint64_t ident = 0;
  int16_t filter = 0;
  uint16_t flags = 0;
  uint32_t fflags = 0;
  int64_t data = 0;
  uint64_t user_data = 0;
};
static_assert(sizeof(KernelEvent) == 32);

inline constexpr int16_t kFilterUser = -11;      // FreeBSD
inline constexpr int16_t kFilterVideoOut = -13;  // measured
inline constexpr int16_t kFilterGraphics = -14;  // measured
inline constexpr uint16_t kClear = 0x20;         // EV_CLEAR: taking an event resets it
inline constexpr size_t kMostKept = 256;

enum class WaitResult { events, timed_out, no_queue };

class EventQueues {
 public:
  explicit EventQueues(Refusals& refusals) : refusals_(refusals) {}
  // Handles are small numbers that mean nothing to the guest.
  uint64_t create(std::string name);
  // Wakes its waiters with no_queue. False when there is none.
  bool destroy(uint64_t queue);
  bool exists(uint64_t queue) const;

  // Registers a source; a second time replaces the user data. False when there is no such queue.
  bool add(uint64_t queue, uint64_t ident, int16_t filter, uint64_t user_data);
  bool remove(uint64_t queue, uint64_t ident, int16_t filter);

  // Posts to every queue that registered the source.
  void trigger(uint64_t ident, int16_t filter, int64_t data);
  // Posts to every registration with the filter, whatever its ident.
  void trigger_filter(int16_t filter, int64_t data);
  // Posts to one queue with the trigger's own user data. False when the source is not registered there.
  bool trigger_user(uint64_t queue, uint64_t ident, uint64_t user_data);

  // Takes up to `most` events; waits for the first.
  WaitResult wait(uint64_t queue, size_t most, const clock::Deadline& deadline, std::vector<KernelEvent>& taken);

 private:
  struct Source {
    uint64_t ident;
    int16_t filter;
    friend auto operator<=>(const Source&, const Source&) = default;
  };
  struct Queue {
    std::string name;
    bool destroyed = false;
    std::map<Source, uint64_t> sources;  // user data
    std::deque<KernelEvent> events;
    std::condition_variable arrived;
  };
  void post(Queue& queue, const KernelEvent& event);
  std::shared_ptr<Queue> find(uint64_t queue) const;

  Refusals& refusals_;
  mutable std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Queue>> queues_;
  uint64_t next_ = 1;
};

}  // namespace orrery::hle::equeue
