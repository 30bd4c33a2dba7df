#include "protocol/page_states.hpp"

#include "shared/futex.hpp"

namespace orrery::protocol {

Result<void> ArmRequester::arm(std::span<const GuestRange> ranges, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!ranges.empty()) {
    const auto part = ranges.first(std::min<size_t>(ranges.size(), kMostArmRanges));
    ranges = ranges.subspan(part.size());
    for (size_t i = 0; i < part.size(); ++i) {
      shared_->ranges[i].begin.store(part[i].begin, std::memory_order_relaxed);
      shared_->ranges[i].end.store(part[i].end, std::memory_order_relaxed);
    }
    shared_->count.store(static_cast<uint32_t>(part.size()), std::memory_order_relaxed);
    const uint32_t asked = shared_->asked.fetch_add(1, std::memory_order_release) + 1;
    futex_wake(shared_->asked);
    for (;;) {
      const uint32_t done = shared_->done.load(std::memory_order_acquire);
      if (done == asked) break;
      const auto now = std::chrono::steady_clock::now();
      if (now >= end) return fail(ExitCode::internal, "the guest process does not arm its pages");
      futex_wait(shared_->done, done, end - now);
    }
  }
  return {};
}

uint32_t ArmServer::next(std::chrono::milliseconds wait) const {
  const uint32_t done = shared_->done.load(std::memory_order_relaxed);
  uint32_t asked = shared_->asked.load(std::memory_order_acquire);
  if (asked == done) {
    futex_wait(shared_->asked, asked, wait);
    asked = shared_->asked.load(std::memory_order_acquire);
  }
  return asked;
}

void ArmServer::finish(uint32_t asked) {
  shared_->done.store(asked, std::memory_order_release);
  futex_wake(shared_->done);
}

}  // namespace orrery::protocol
