// What recorded work may still write: asked before the CPU reads guest memory on the stream's behalf.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu-service/dispatch/arena_plan.hpp"

namespace orrery::dispatch {

class PendingWrites {
 public:
  void add(ArenaRange range) {
    // Far more ranges than a batch has means that nobody clears; one flag is then as good.
    if (ranges_.size() >= kMostRanges) {
      anything_ = true;
    } else {
      ranges_.push_back(range);
    }
  }
  void add_anything() { anything_ = true; }
  void clear() {
    ranges_.clear();
    anything_ = false;
  }
  bool may_touch(ArenaRange read) const { return anything_ || names(read); }
  bool anything() const { return anything_; }
  std::span<const ArenaRange> ranges() const { return ranges_; }
  bool empty() const { return !anything_ && ranges_.empty(); }
  // Only the ranges that are known, not work that may write anywhere.
  bool names(ArenaRange read) const {
    for (const ArenaRange& r : ranges_) {
      if (r.begin < read.end && read.begin < r.end) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kMostRanges = 4096;
  std::vector<ArenaRange> ranges_;
  bool anything_ = false;
};

}  // namespace orrery::dispatch
