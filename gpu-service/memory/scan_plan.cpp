#include "gpu-service/memory/scan_plan.hpp"

#include <algorithm>

namespace orrery::memory {

ScanPlan::ScanPlan(std::span<const ArenaRange> runs, const WindowIndex& windows) : runs_(runs.begin(), runs.end()) {
  for (const ArenaRange& run : runs) {
    windows.for_each(run, [&](const WindowIndex::Window& window, AddressRange guest) {
      parts_.push_back({guest, guest.begin - window.guest_begin + window.arena.begin});
    });
  }
  std::ranges::sort(parts_, {}, [](const Part& part) { return part.guest.begin; });
  auto stretch = windows.stretches().begin();
  for (size_t first = 0; first < parts_.size();) {
    Scan scan{parts_[first].guest, {}, false};
    while (stretch != windows.stretches().end() && stretch->end <= scan.guest.begin) ++stretch;
    // Never past the windows: what else the process has there nobody registered.
    const uint64_t limit = stretch != windows.stretches().end() ? stretch->end : 0;
    size_t behind = first + 1;
    for (; behind < parts_.size() && parts_[behind].guest.end <= limit; ++behind) {
      const AddressRange next = parts_[behind].guest;
      if (next.begin - scan.guest.end > kMostGap) break;
      scan.gaps |= next.begin != scan.guest.end;
      scan.guest.end = next.end;
    }
    scan.parts = std::span(parts_).subspan(first, behind - first);
    scans_.push_back(scan);
    first = behind;
  }
}

bool ScanPlan::is_for(std::span<const ArenaRange> runs) const { return std::ranges::equal(runs_, runs); }

}  // namespace orrery::memory
