#include "guest-host/clock/guest_clock.hpp"

#include <x86intrin.h>
#include <algorithm>
#include <ctime>
#include <thread>

namespace orrery::clock {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr nanoseconds kLogicalEpoch = std::chrono::seconds(1'704'067'200);  // 2024-01-01
constexpr uint64_t kLogicalFrequency = 1'000'000'000;
// A title that polls must not take the core from the GPU service; the guest can't see this.
constexpr nanoseconds kLogicalPause = 50us;
// Long enough to measure the counter's frequency to a few parts per million.
constexpr nanoseconds kMeasure = 20ms;
// A waiter looks again at least this often: nothing in the guest depends on it but latency after a lost wake-up.
constexpr nanoseconds kSlice = 50ms;

}  // namespace

GuestClock::GuestClock(bool logical) : logical_(logical), start_(steady_clock::now()), start_ticks_(__rdtsc()) {}

nanoseconds GuestClock::now() const {
  if (!logical_) return steady_clock::now() - start_;
  // Whole nanoseconds of n/60 s without a drift.
  const uint64_t flips = completed_flips();
  const uint64_t rest = flips % kFlipsPerSecond * 1'000'000'000 / kFlipsPerSecond;
  return nanoseconds(static_cast<int64_t>(flips / kFlipsPerSecond * 1'000'000'000 + rest));
}

nanoseconds GuestClock::since_epoch() const {
  if (logical_) return kLogicalEpoch + now();
  return std::chrono::system_clock::now().time_since_epoch();
}

void GuestClock::sleep(nanoseconds duration) const {
  if (logical_) duration = std::min(duration, kLogicalPause);
  if (duration > nanoseconds::zero()) {
    std::this_thread::sleep_for(duration);
  } else {
    std::this_thread::yield();
  }
}

uint64_t GuestClock::ticks() const {
  return logical_ ? static_cast<uint64_t>(now().count()) : __rdtsc();  // logical frequency: 1 GHz
}

uint64_t GuestClock::tick_frequency() const {
  if (logical_) return kLogicalFrequency;
  if (const uint64_t known = frequency_.load(std::memory_order_relaxed); known != 0) return known;
  if (const auto elapsed = now(); elapsed < kMeasure) std::this_thread::sleep_for(kMeasure - elapsed);
  const auto elapsed = static_cast<unsigned __int128>(now().count());
  const auto measured =
      static_cast<uint64_t>(static_cast<unsigned __int128>(__rdtsc() - start_ticks_) * 1'000'000'000 / elapsed);
  // The first answer stays the answer: titles divide by it.
  uint64_t none = 0;
  frequency_.compare_exchange_strong(none, measured);
  return frequency_.load();
}

Deadline::Deadline(const GuestClock& clock, nanoseconds timeout)
    : clock_(&clock),
      guest_due_(clock.now() + std::clamp(timeout, nanoseconds::zero(), nanoseconds(std::chrono::hours(24 * 365)))),
      host_due_(steady_clock::now() + std::clamp(timeout, nanoseconds::zero(), nanoseconds(10s))) {}

bool Deadline::passed() const {
  if (clock_ == nullptr) return false;
  if (clock_->now() >= guest_due_) return true;
  return clock_->logical() && !clock_->can_advance() && steady_clock::now() >= host_due_;
}

nanoseconds Deadline::host_slice() const {
  if (clock_ == nullptr) return kSlice;
  if (clock_->logical())
    return clock_->can_advance() ? nanoseconds(1ms)
                                 : std::clamp<nanoseconds>(host_due_ - steady_clock::now(), 0ms, kSlice);
  return std::clamp<nanoseconds>(guest_due_ - clock_->now(), 0ms, kSlice);
}

}  // namespace orrery::clock
