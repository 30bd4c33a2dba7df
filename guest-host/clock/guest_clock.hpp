// The time that the title sees. Monotonic host time since the start of the run; or, with the logical clock, time that
// moves by rule (turns.hpp). `rdtsc` in guest code is not seen here and shows the host's counter.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "guest-host/clock/turns.hpp"

namespace orrery::clock {

using std::chrono::nanoseconds;

// The display's rate, and with the logical clock the length of a frame.
inline constexpr uint64_t kBlanksPerSecond = 60;
// The first blank after `time`; blank n is at n/60 s, without drift.
nanoseconds next_blank(nanoseconds time);

class GuestClock {
 public:
  explicit GuestClock(bool logical);
  bool logical() const { return turns_ != nullptr; }
  // Null unless logical.
  Turns* turns() const { return turns_.get(); }
  // Guest time since the start.
  nanoseconds now() const;
  // Seconds since 1970, for the guest's calendar. With the logical clock it starts at a fixed date.
  nanoseconds since_epoch() const;

  void sleep(nanoseconds duration) const;
  // The time-stamp counter as the guest's library functions show it, and its frequency in Hz.
  uint64_t ticks() const;
  uint64_t tick_frequency() const;

  // These three mean something with the logical clock only.
  // The title asked for something that changes with time, and may do so again at once.
  void asked() const;
  // The GPU was given something: waits until it has done what it can.
  void settle() const;
  // Something came from outside; at once, or when all there is has come (with the logical clock).
  void from_outside(std::function<void()> event) const;

 private:
  std::unique_ptr<Turns> turns_;
  std::chrono::steady_clock::time_point start_;
  uint64_t start_ticks_;
  mutable std::atomic<uint64_t> frequency_{0};
};

// When a wait of the guest ends.
class Deadline {
 public:
  // No limit; only good with host time.
  Deadline() = default;
  static Deadline never(const GuestClock& clock);
  Deadline(const GuestClock& clock, nanoseconds timeout);
  bool passed() const;
  // The same clock's deadline that never passes.
  Deadline without_limit() const;

 private:
  friend class Waiting;
  const GuestClock* clock_ = nullptr;
  std::optional<nanoseconds> due_;
};

// One wait of a guest thread: `while (!condition) { if (waiting.over()) ...; waiting.sleep(changed, lock); }`.
class Waiting {
 public:
  explicit Waiting(const Deadline& deadline) : deadline_(deadline) {}
  // The deadline has passed.
  bool over() const { return deadline_.passed(); }
  // Until `changed` is notified, the deadline passes, or for no reason.
  void sleep(std::condition_variable& changed, std::unique_lock<std::mutex>& lock);

 private:
  Deadline deadline_;
  bool again_ = false;
};

}  // namespace orrery::clock
