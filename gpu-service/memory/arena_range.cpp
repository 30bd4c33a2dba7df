#include "gpu-service/memory/arena_range.hpp"

#include <algorithm>

namespace orrery::memory {

void merge_ranges(std::vector<ArenaRange>& ranges) {
  std::ranges::sort(ranges, {}, &ArenaRange::begin);
  size_t kept = 0;
  for (const ArenaRange range : ranges) {
    if (range.begin >= range.end) continue;
    if (kept > 0 && range.begin <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

}  // namespace orrery::memory
