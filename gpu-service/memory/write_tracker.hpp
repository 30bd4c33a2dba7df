// Which pages of the arena changed since the device got them. Harvests happen where the caller says so (acquire points)
// and look at watched pages only; a page that is written again and again is left alone and counts as changed
// (docs/decisions/032).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "gpu-service/memory/harvester.hpp"
#include "gpu-service/memory/page_bits.hpp"
#include "protocol/reported_writes.hpp"

namespace orrery::memory {

struct TrackerCounters {
  uint64_t harvests = 0;
  uint64_t scans = 0;          // runs that were asked about
  uint64_t written_pages = 0;  // found by scans
  uint64_t hot_pages = 0;      // times that a page became hot
  uint64_t reported = 0;       // ranges that the guest process reported
  std::chrono::nanoseconds spent{};
};

// What a harvest found.
struct Changes {
  std::vector<ArenaRange> pages;      // watched pages that changed: whole pages, ascending, merged
  std::vector<ArenaRange> discarded;  // their host pages were given back: imports of them are stale
};

class WriteTracker {
 public:
  static constexpr uint32_t kHotAfter = 4;  // harvests in a row that found the page written
  static constexpr uint32_t kHotFor = 16;   // harvests until it is armed again

  // `arena` is looked at when the harvester fails. `reports`: of the guest process; none in tests.
  WriteTracker(std::span<const std::byte> arena, std::unique_ptr<Harvester> harvester,
               std::optional<protocol::ReportedWritesReader> reports = {});

  void map_changed(std::span<const protocol::MapEntry> entries);
  // The device is about to get the range (rounded out to pages): from now on its changes are found. Strictly before the
  // copy is made. Pages are watched until a harvest says that they changed by other means than a write.
  void watch(ArenaRange range);
  bool watched(uint64_t byte) const { return armed_.test(byte) || hot_.test(byte); }
  // Everything watched, and what the guest process reported. What the CPU wrote before the call is in the answer, or
  // was in an earlier one.
  Changes harvest();
  // One range only, reports not looked at: the naive method, kept for measurements.
  Changes harvest(ArenaRange range);
  // Only the reports: costs two loads when there are none.
  Changes take_reports();
  // The service itself is about to change these bytes through its own mapping.
  void own_store(ArenaRange range) {
    ++epoch_;
    harvester_->stored(range);
  }

  // Grows with every change that became known. Equal epochs around two looks prove that watched bytes are the same, if
  // the second came with a harvest of its own.
  uint64_t epoch() const { return epoch_; }
  std::string_view method() const { return harvester_->name(); }
  const TrackerCounters& counters() const { return counters_; }

 private:
  void scan(std::span<const ArenaRange> runs, std::vector<ArenaRange>& written);
  void set_armed(ArenaRange range, bool armed);
  std::span<const ArenaRange> armed_runs();
  void note_written(ArenaRange pages);
  void cool_down(std::vector<ArenaRange>& changed);
  void reports_into(Changes& changes);
  void fall_back(const Error& why);
  Changes finished(Changes changes);

  std::span<const std::byte> arena_;
  std::unique_ptr<Harvester> harvester_;
  std::optional<protocol::ReportedWritesReader> reports_;
  std::vector<protocol::MapEntry> entries_;
  PageBits armed_, hot_;
  std::vector<ArenaRange> armed_runs_;  // of armed_, while armed_runs_current_
  bool armed_runs_current_ = false;
  struct History {
    uint32_t last = 0;    // number of the harvest that found it written, or made it hot
    uint32_t streak = 0;  // harvests in a row
  };
  std::vector<History> history_;  // by page
  uint32_t number_ = 1;           // of the present harvest
  uint64_t epoch_ = 1;
  TrackerCounters counters_;
};

}  // namespace orrery::memory
