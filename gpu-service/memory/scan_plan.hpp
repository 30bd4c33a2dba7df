// Few scans for many armed runs: what lies side by side at the guest's addresses is looked at in one, however it is
// scattered over the arena (docs/decisions/044).
#pragma once

#include <span>
#include <vector>

#include "gpu-service/memory/arena_range.hpp"
#include "gpu-service/memory/window_index.hpp"

namespace orrery::memory {

class ScanPlan {
 public:
  // Unarmed pages between two armed runs cost a few nanoseconds each to look at, a scan of its own more than a
  // microsecond.
  static constexpr uint64_t kMostGap = 64 * kHostPage;

  // An armed run, or a part of one, as a window shows it.
  struct Part {
    AddressRange guest;
    uint64_t arena = 0;  // of its first byte
  };
  struct Scan {
    AddressRange guest;
    std::span<const Part> parts;  // ascending
    // Pages in between are not armed: the scan must not arm them, nor are they written by what it says.
    bool gaps = false;
  };

  ScanPlan() = default;
  ScanPlan(std::span<const ArenaRange> runs, const WindowIndex& windows);
  ScanPlan(ScanPlan&&) = default;
  ScanPlan& operator=(ScanPlan&&) = default;

  bool is_for(std::span<const ArenaRange> runs) const;
  std::span<const Scan> scans() const { return scans_; }

 private:
  std::vector<ArenaRange> runs_;
  std::vector<Part> parts_;  // what scans_ points into
  std::vector<Scan> scans_;
};

// Calls visit(part, common guest addresses) where ascending ranges and the parts of a scan meet.
template <class Visit>
void for_each_met(std::span<const AddressRange> ranges, std::span<const ScanPlan::Part> parts, Visit&& visit) {
  auto part = parts.begin();
  for (const AddressRange& range : ranges) {
    while (part != parts.end() && part->guest.end <= range.begin) ++part;
    for (auto met = part; met != parts.end() && met->guest.begin < range.end; ++met) {
      visit(*met, AddressRange{std::max(met->guest.begin, range.begin), std::min(met->guest.end, range.end)});
    }
  }
}

}  // namespace orrery::memory
