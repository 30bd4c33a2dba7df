#include "guest-host/hle/video_out/vblank_pacer.hpp"

namespace orrery::hle::video_out {
namespace {

using std::chrono::steady_clock;
constexpr int64_t kBlanksPerSecond = 60;
constexpr int64_t kSecond = 1'000'000'000;

}  // namespace

steady_clock::time_point next_vblank(steady_clock::time_point start, steady_clock::time_point now) {
  const int64_t elapsed = std::chrono::nanoseconds(now - start).count();
  // Without drift: blank n is at n/60 s, computed from n. Seconds apart, so that years do not overflow.
  const int64_t seconds = elapsed / kSecond;
  const int64_t blank = (elapsed % kSecond) * kBlanksPerSecond / kSecond + 1;
  return start +
         std::chrono::nanoseconds(seconds * kSecond + (blank * kSecond + kBlanksPerSecond - 1) / kBlanksPerSecond);
}

VblankPacer::VblankPacer() : start_(steady_clock::now()), thread_([this] { run(); }) {}

VblankPacer::~VblankPacer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void VblankPacer::at_vblank(uint32_t blanks, std::function<void()> action) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({blanks, std::move(action)});
  }
  changed_.notify_all();
}

void VblankPacer::run() {
  std::unique_lock lock(mutex_);
  steady_clock::time_point last = start_;
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    auto due = next_vblank(start_, steady_clock::now());
    // `blanks` whole periods after the one before, less a little for rounding.
    const auto earliest = last + std::chrono::nanoseconds(kSecond / kBlanksPerSecond) * waiting_.front().blanks -
                          std::chrono::milliseconds(1);
    while (due < earliest) due = next_vblank(start_, due);
    if (changed_.wait_until(lock, due, [&] { return stopping_; })) return;
    last = due;
    auto action = std::move(waiting_.front().action);
    waiting_.pop_front();
    lock.unlock();
    action();
    lock.lock();
  }
}

}  // namespace orrery::hle::video_out
