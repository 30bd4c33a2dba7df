// The time that the title sees. Monotonic host time since the start of the run; or, with the logical clock, a function
// of completed flips. `rdtsc` in guest code is not seen here and shows the host's counter.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace orrery::clock {

using std::chrono::nanoseconds;

// One flip of logical time: 1/60 s.
inline constexpr uint64_t kFlipsPerSecond = 60;

class GuestClock {
 public:
  explicit GuestClock(bool logical);
  bool logical() const { return logical_; }
  // Guest time since the start.
  nanoseconds now() const;
  // Seconds since 1970, for the guest's calendar. With the logical clock it starts at a fixed date.
  nanoseconds since_epoch() const;

  // A flip is on its way; until it completes, logical time can still advance.
  void flip_started() { started_.fetch_add(1, std::memory_order_relaxed); }
  void flip_abandoned() { started_.fetch_sub(1, std::memory_order_relaxed); }
  void flip_completed() { completed_.fetch_add(1, std::memory_order_release); }
  uint64_t completed_flips() const { return completed_.load(std::memory_order_acquire); }
  // False when nothing is on its way that could advance logical time.
  bool can_advance() const { return !logical_ || started_.load(std::memory_order_relaxed) != completed_flips(); }

  // Sleeps. With the logical clock it only gives the host's processor to others for a moment.
  void sleep(nanoseconds duration) const;

  // The time-stamp counter as the guest's library functions show it, and its frequency in Hz.
  uint64_t ticks() const;
  uint64_t tick_frequency() const;

 private:
  bool logical_;
  std::chrono::steady_clock::time_point start_;
  uint64_t start_ticks_;
  mutable std::atomic<uint64_t> frequency_{0};
  std::atomic<uint64_t> started_{0};
  std::atomic<uint64_t> completed_{0};
};

// When a wait of the guest ends. With the logical clock a time-out is due when guest time has passed it; or, when
// nothing is left that could advance guest time (waiting on would be for ever), after as much host time, 10 s at most.
class Deadline {
 public:
  // No limit.
  Deadline() = default;
  Deadline(const GuestClock& clock, nanoseconds timeout);
  bool passed() const;
  // How long the host may sleep before it asks again.
  nanoseconds host_slice() const;

 private:
  const GuestClock* clock_ = nullptr;
  nanoseconds guest_due_{};
  std::chrono::steady_clock::time_point host_due_{};
};

}  // namespace orrery::clock
