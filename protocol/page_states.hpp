// Tracking of the title's writes by faults, where the kernel can't do it alone: one byte per host page of the guest's
// addresses in a memory file of its own, and requests of the service to arm ranges.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include "protocol/segment_layout.hpp"
#include "shared/error.hpp"
#include "shared/quantity.hpp"

namespace orrery::protocol {

inline constexpr uint64_t kPageStateBytes = 1ull << (40 - 12);
enum PageState : uint8_t {
  kPageMapped = 1,    // a window shows it
  kPageWritable = 2,  // the title's CPU may write it
  kPageExecutable = 4,
  kPageArmed = 8,     // it may not just now: its first write faults
  kPageWritten = 16,  // since it was last armed
};

struct GuestRange {
  uint64_t begin = 0, end = 0;  // whole host pages
};

// The service's side of arming. Not for several threads.
class ArmRequester {
 public:
  explicit ArmRequester(std::span<std::byte> memory) : shared_(reinterpret_cast<ArmRequests*>(memory.data())) {}
  // The ranges are armed when it returns. Error: the guest process does not answer.
  Result<void> arm(std::span<const GuestRange> ranges, std::chrono::milliseconds patience);

 private:
  ArmRequests* shared_;
};

// The guest process's side.
class ArmServer {
 public:
  explicit ArmServer(std::span<std::byte> memory) : shared_(reinterpret_cast<ArmRequests*>(memory.data())) {}
  // Waits for a request and serves it: arm(range) for each range that is one (whole pages below 2^40). False when none
  // came in time.
  template <class Arm>
  bool serve(std::chrono::milliseconds wait, Arm&& arm) {
    const uint32_t asked = next(wait);
    if (asked == shared_->done.load(std::memory_order_relaxed)) return false;
    const uint32_t count = shared_->count.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < count && i < kMostArmRanges; ++i) {
      const GuestRange range{shared_->ranges[i].begin.load(std::memory_order_relaxed),
                             shared_->ranges[i].end.load(std::memory_order_relaxed)};
      if (range.begin % 4096 == 0 && range.end % 4096 == 0 && range.begin < range.end &&
          range.end <= kPageStateBytes * 4096) {
        arm(range);
      }
    }
    finish(asked);
    return true;
  }

 private:
  uint32_t next(std::chrono::milliseconds wait) const;
  void finish(uint32_t asked);
  ArmRequests* shared_;
};

}  // namespace orrery::protocol
