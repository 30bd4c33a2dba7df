#include "gpu-service/memory/write_tracker.hpp"

#include <algorithm>
#include <utility>

#include "shared/log.hpp"

namespace orrery::memory {
namespace {

class Stopwatch {
 public:
  explicit Stopwatch(std::chrono::nanoseconds& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::steady_clock::now() - begin_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::chrono::nanoseconds& total_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

WriteTracker::WriteTracker(std::span<const std::byte> arena, std::unique_ptr<Harvester> harvester,
                           std::optional<protocol::ReportedWritesReader> reports)
    : arena_(arena),
      harvester_(std::move(harvester)),
      reports_(std::move(reports)),
      armed_(arena.size()),
      hot_(arena.size()),
      history_(arena.size() / kHostPage) {}

void WriteTracker::map_changed(std::span<const protocol::MapEntry> entries) {
  entries_.assign(entries.begin(), entries.end());
  harvester_->map_changed(entries);
}

void WriteTracker::watch(ArenaRange range) {
  std::optional<Error> failed;
  armed_.for_each_run(range, false, [&](ArenaRange cold) {
    hot_.for_each_run(cold, false, [&](ArenaRange run) {
      if (failed) return;
      if (auto armed = harvester_->arm(run); !armed) {
        failed = std::move(armed.error());
      } else {
        set_armed(run, true);
      }
    });
  });
  if (!failed) return;
  fall_back(*failed);
  watch(range);
}

// Kept going whatever the kernel says: contents can always be looked at. Nothing that was watched can be vouched for.
void WriteTracker::fall_back(const Error& why) {
  log::warn("tracking of the title's writes ({}) failed and is replaced by comparing contents: {}", method(),
            why.describe());
  harvester_ = make_content_harvester(arena_);
  harvester_->map_changed(entries_);
}

void WriteTracker::scan(std::span<const ArenaRange> runs, std::vector<ArenaRange>& written) {
  counters_.scans += runs.size();
  auto done = harvester_->harvest(runs, written);
  if (done) return;
  fall_back(done.error());
  written.clear();
  // All that was ever armed is unknown now, wherever it lies.
  armed_.for_each_run(armed_.all(), true, [&](ArenaRange run) { written.push_back(run); });
  set_armed(armed_.all(), false);
}

void WriteTracker::set_armed(ArenaRange range, bool armed) {
  armed_.set(range, armed);
  armed_runs_current_ = false;
}

std::span<const ArenaRange> WriteTracker::armed_runs() {
  if (!std::exchange(armed_runs_current_, true)) {
    armed_runs_.clear();
    armed_.for_each_run(armed_.all(), true, [&](ArenaRange run) { armed_runs_.push_back(run); });
  }
  return armed_runs_;
}

void WriteTracker::note_written(ArenaRange pages) {
  for (uint64_t at = pages.begin; at < pages.end; at += kHostPage) {
    ++counters_.written_pages;
    History& history = history_[at / kHostPage];
    if (history.last != number_) {
      history.streak = history.last + 1 == number_ ? history.streak + 1 : 1;
      history.last = number_;
    }
    if (history.streak < kHotAfter) continue;
    set_armed({at, at + kHostPage}, false);
    hot_.set({at, at + kHostPage}, true);
    ++counters_.hot_pages;
  }
}

// Hot pages changed, for all we know. One that was hot for long is watched anew when it is next wanted, and hot again
// if the first harvest finds it written.
void WriteTracker::cool_down(std::vector<ArenaRange>& changed) {
  hot_.for_each_run(hot_.all(), true, [&](ArenaRange run) {
    changed.push_back(run);
    for (uint64_t at = run.begin; at < run.end; at += kHostPage) {
      History& history = history_[at / kHostPage];
      if (number_ - history.last < kHotFor) continue;
      hot_.set({at, at + kHostPage}, false);
      history = {number_, kHotAfter - 1};
    }
  });
}

void WriteTracker::reports_into(Changes& changes) {
  if (!reports_) return;
  std::vector<protocol::ReportedRange> reported;
  if (!reports_->take(reported)) {
    log::warn("more changes of the guest's memory than could be reported at once; all of it is looked at anew");
    reported = {{protocol::ReportKind::discarded, {0}, {arena_.size()}}};
  }
  for (const auto& report : reported) {
    ++counters_.reported;
    const ArenaRange range{std::min(align_down(report.begin.value, kHostPage), arena_.size()),
                           std::min(align_up(report.end.value, kHostPage), arena_.size())};
    if (range.begin >= range.end) continue;
    if (report.kind == protocol::ReportKind::discarded) changes.discarded.push_back(range);
    // Its pages were never armed through a new window.
    for (PageBits* bits : {&armed_, &hot_}) {
      bits->for_each_run(range, true, [&](ArenaRange run) { changes.pages.push_back(run); });
      bits->set(range, false);
    }
    armed_runs_current_ = false;
  }
}

Changes WriteTracker::finished(Changes changes) {
  merge_ranges(changes.pages);
  merge_ranges(changes.discarded);
  if (!changes.pages.empty() || !changes.discarded.empty()) ++epoch_;
  return changes;
}

Changes WriteTracker::take_reports() {
  Changes changes;
  reports_into(changes);
  return finished(std::move(changes));
}

Changes WriteTracker::harvest() {
  const Stopwatch stopwatch(counters_.spent);
  Changes changes;
  ++counters_.harvests;
  ++number_;
  // Reports first: a range that moved to other windows is not scanned through these.
  reports_into(changes);
  std::vector<ArenaRange> written;
  scan(armed_runs(), written);
  merge_ranges(written);
  cool_down(changes.pages);
  for (const ArenaRange& range : written) note_written(range);
  changes.pages.insert(changes.pages.end(), written.begin(), written.end());
  return finished(std::move(changes));
}

Changes WriteTracker::harvest(ArenaRange range) {
  const Stopwatch stopwatch(counters_.spent);
  Changes changes;
  std::vector<ArenaRange> runs;
  armed_.for_each_run(range, true, [&](ArenaRange run) { runs.push_back(run); });
  scan(runs, changes.pages);
  hot_.for_each_run(range, true, [&](ArenaRange run) { changes.pages.push_back(run); });
  return finished(std::move(changes));
}

}  // namespace orrery::memory
