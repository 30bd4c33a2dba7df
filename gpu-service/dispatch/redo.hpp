// Where stores go that must not be done twice, and what makes them necessary.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "gpu-service/dispatch/arena_plan.hpp"
#include "shared/error.hpp"
#include "shared/quantity.hpp"

namespace orrery::dispatch {

// Takes what the device changed; somebody else stores it.
class Redo {
 public:
  virtual ~Redo() = default;
  // The bytes of a page (4 KiB) that differ from their twin.
  virtual Result<void> changed(ArenaOffset page, std::span<const std::byte> now, std::span<const std::byte> twin) = 0;
  // Some stores went to the arena directly, where doing them again is harmless.
  virtual void direct() = 0;
  // What was taken is in guest memory afterwards, and nothing of what was recorded before runs again. `always`: even
  // when nothing was taken.
  virtual Result<void> commit(bool always) = 0;
};

// What a dispatch, fill or copy reaches.
struct Access {
  std::vector<ArenaRange> reads, writes;
  bool reads_anything = false, writes_anything = false;
};

// What a stretch has read so far: storing there directly would change what a second run reads.
class Footprint {
 public:
  void add(const Access& access) {
    anything_ |= access.reads_anything;
    for (const ArenaRange& range : access.reads) add(range);
  }
  void add(ArenaRange range) {
    if (reads_.size() >= kMost) memory::merge_ranges(reads_);
    if (reads_.size() >= kMost) {
      anything_ = true;
    } else {
      reads_.push_back(range);
    }
  }
  bool touched_by(const Access& access) const {
    if (access.writes_anything) return anything_ || !reads_.empty();
    if (access.writes.empty()) return false;
    return anything_ || overlap(access.writes, reads_);
  }
  // A second run of it alone would read what the first has stored.
  static bool in_place(const Access& access) {
    if (access.writes_anything) return true;
    return !access.writes.empty() && (access.reads_anything || overlap(access.writes, access.reads));
  }
  void clear() {
    reads_.clear();
    anything_ = false;
  }

 private:
  static constexpr size_t kMost = 4096;
  static bool overlap(std::span<const ArenaRange> writes, std::span<const ArenaRange> reads) {
    return std::ranges::any_of(writes, [&](const ArenaRange& w) {
      return std::ranges::any_of(reads, [&](const ArenaRange& r) { return w.begin < r.end && r.begin < w.end; });
    });
  }
  std::vector<ArenaRange> reads_;
  bool anything_ = false;
};

}  // namespace orrery::dispatch
