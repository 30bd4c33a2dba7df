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
constexpr nanoseconds kLongestWait = std::chrono::hours(24 * 365);
// Long enough to measure the counter's frequency to a few parts per million.
constexpr nanoseconds kMeasure = 20ms;
// A waiter looks again at least this often: nothing in the guest depends on it but latency after a lost wake-up.
constexpr nanoseconds kSlice = 50ms;

}  // namespace

nanoseconds next_blank(nanoseconds time) {
  constexpr int64_t kSecond = 1'000'000'000, kRate = kBlanksPerSecond;
  // Seconds apart, so that years do not overflow.
  const int64_t seconds = time.count() / kSecond;
  // Blank n of a second is at n/60 s, rounded down; the first that is later than `time`.
  int64_t blank = time.count() % kSecond * kRate / kSecond + 1;
  if (blank * kSecond / kRate <= time.count() % kSecond) ++blank;
  return nanoseconds(seconds * kSecond + blank * kSecond / kRate);
}

GuestClock::GuestClock(bool logical)
    : turns_(logical ? std::make_unique<Turns>() : nullptr), start_(steady_clock::now()), start_ticks_(__rdtsc()) {}

nanoseconds GuestClock::now() const { return turns_ ? turns_->now() : nanoseconds(steady_clock::now() - start_); }

nanoseconds GuestClock::since_epoch() const {
  if (turns_) return kLogicalEpoch + now();
  return std::chrono::system_clock::now().time_since_epoch();
}

void GuestClock::sleep(nanoseconds duration) const {
  if (turns_) {
    turns_->sleep_until(now() + std::clamp(duration, 0ns, kLongestWait));
  } else if (duration > 0ns) {
    std::this_thread::sleep_for(duration);
  } else {
    std::this_thread::yield();
  }
}

void GuestClock::asked() const {
  if (turns_) turns_->asked();
}

void GuestClock::settle() const {
  if (turns_) turns_->settle();
}

void GuestClock::from_outside(std::function<void()> event) const {
  if (turns_) {
    turns_->post(std::move(event));
  } else {
    event();
  }
}

uint64_t GuestClock::ticks() const {
  return turns_ ? static_cast<uint64_t>(now().count()) : __rdtsc();  // logical frequency: 1 GHz
}

uint64_t GuestClock::tick_frequency() const {
  if (turns_) return kLogicalFrequency;
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

Deadline Deadline::never(const GuestClock& clock) {
  Deadline deadline;
  deadline.clock_ = &clock;
  return deadline;
}

Deadline::Deadline(const GuestClock& clock, nanoseconds timeout)
    : clock_(&clock), due_(clock.now() + std::clamp(timeout, 0ns, kLongestWait)) {}

Deadline Deadline::without_limit() const {
  Deadline deadline = *this;
  deadline.due_.reset();
  return deadline;
}

bool Deadline::passed() const { return due_ && clock_->now() >= *due_; }

void Waiting::sleep(std::condition_variable& changed, std::unique_lock<std::mutex>& lock) {
  const GuestClock* const clock = deadline_.clock_;
  if (clock != nullptr && clock->turns() != nullptr) {
    clock->turns()->wait(lock, deadline_.due_, again_);
    again_ = true;
    return;
  }
  const nanoseconds left = deadline_.due_ ? *deadline_.due_ - clock->now() : kSlice;
  changed.wait_for(lock, std::clamp(left, 0ns, kSlice));
}

}  // namespace orrery::clock
