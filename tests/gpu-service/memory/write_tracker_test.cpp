#include "gpu-service/memory/write_tracker.hpp"

#include <gtest/gtest.h>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

namespace orrery::memory {
namespace {

using Ranges = std::vector<ArenaRange>;
constexpr uint64_t kArena = 16 << 20;

ArenaRange page(uint64_t number, uint64_t count = 1) { return {number * kHostPage, (number + count) * kHostPage}; }

// As the title's CPU does: through its own window.
void bump(std::byte* at) { std::atomic_ref(*reinterpret_cast<uint8_t*>(at)).fetch_add(1, std::memory_order_relaxed); }

// An arena with two guest windows: all of it, and its second quarter once more. The service has a mapping of its own.
class Tracking : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const bool by_page_table = std::string_view(GetParam()) == "uffd";
    file = make_memory_file("arena", {kArena}).value();
    service = Mapping::of(file, {0}, {kArena}).value();
    guest = Mapping::of(file, {0}, {kArena}).value();
    alias = Mapping::of(file, {kArena / 4}, {kArena / 4}).value();
    std::unique_ptr<Harvester> harvester;
    if (by_page_table) {
      if (auto probed = probe_write_watch(); !probed) GTEST_SKIP() << probed.error().describe();
      watch.emplace(WriteWatch::open().value());
      for (const Mapping* window : {&guest, &alias}) {
        const auto begin = reinterpret_cast<uint64_t>(window->data());
        ASSERT_TRUE(watch->add({begin, begin + window->size()}));
      }
      harvester = make_page_table_harvester(watch->pagemap().value()).value();
    } else {
      harvester = make_content_harvester(service.bytes());
    }
    tracker.emplace(service.bytes(), std::move(harvester));
    tracker->map_changed(
        std::vector<protocol::MapEntry>{{reinterpret_cast<uint64_t>(guest.data()), kArena, 0, 0x33, 4},
                                        {reinterpret_cast<uint64_t>(alias.data()), kArena / 4, kArena / 4, 0x33, 4}});
  }
  void write(uint64_t at) { bump(guest.data() + at); }

  UniqueFd file;
  Mapping service, guest, alias;
  std::optional<WriteWatch> watch;
  std::optional<WriteTracker> tracker;
};
INSTANTIATE_TEST_SUITE_P(By, Tracking, testing::Values("uffd", "hash"), [](const auto& info) { return info.param; });

TEST_P(Tracking, a_write_to_a_watched_page_is_in_the_next_harvest_alone) {
  EXPECT_EQ(tracker->method(), GetParam());
  tracker->watch(page(3, 5));
  const uint64_t epoch = tracker->epoch();
  EXPECT_EQ(tracker->harvest().pages, Ranges{});
  EXPECT_EQ(tracker->epoch(), epoch);
  write(4 * kHostPage + 17);
  write(5 * kHostPage);
  write(9 * kHostPage);  // nobody watches it
  EXPECT_EQ(tracker->harvest().pages, (Ranges{page(4, 2)}));
  EXPECT_GT(tracker->epoch(), epoch);
  EXPECT_EQ(tracker->harvest().pages, Ranges{});
  write(4 * kHostPage);
  EXPECT_EQ(tracker->harvest().pages, (Ranges{page(4)}));
}

TEST_P(Tracking, what_was_written_before_it_is_watched_is_no_change) {
  write(0);
  tracker->watch(page(0));
  EXPECT_EQ(tracker->harvest().pages, Ranges{});
}

TEST_P(Tracking, writes_through_every_window_count) {
  const uint64_t first = kArena / 4 / kHostPage;
  tracker->watch(page(first, 4));
  bump(alias.data() + 2 * kHostPage);
  write((first + 1) * kHostPage);
  EXPECT_EQ(tracker->harvest().pages, (Ranges{page(first + 1, 2)}));
}

// Holes between watched pages, small and large, that are written too.
TEST_P(Tracking, of_scattered_watched_pages_exactly_the_written_ones_are_found) {
  std::mt19937 random(5);
  constexpr uint64_t kPages = kArena / kHostPage;
  std::vector<bool> watched(kPages);
  for (uint64_t at = 0; at < kPages; at += 1 + random() % (random() % 8 == 0 ? 200 : 5)) {
    tracker->watch(page(at));
    watched[at] = true;
  }
  for (int round = 0; round < 20; ++round) {
    std::vector<bool> wrote(kPages);
    for (int n = 0; n < 1 << round % 10; ++n) {
      const uint64_t at = random() % kPages;
      wrote[at] = watched[at];
      if (random() % 2 == 0 && at >= kPages / 4 && at < kPages / 2) {
        bump(alias.data() + (at - kPages / 4) * kHostPage);
      } else {
        write(at * kHostPage);
      }
    }
    Ranges expected;
    for (uint64_t at = 0; at < kPages; ++at) {
      if (wrote[at]) expected.push_back(page(at));
    }
    merge_ranges(expected);
    ASSERT_EQ(tracker->harvest().pages, expected) << round;
  }
}

TEST_P(Tracking, one_range_can_be_harvested_alone) {
  tracker->watch(page(10, 10));
  write(11 * kHostPage);
  write(18 * kHostPage);
  EXPECT_EQ(tracker->harvest(page(10, 4)).pages, (Ranges{page(11)}));
  EXPECT_EQ(tracker->harvest().pages, (Ranges{page(18)}));
}

// What the title puts back after the service's own store is a change against what the device holds.
TEST_P(Tracking, a_write_that_undoes_the_service_s_own_store_counts) {
  tracker->watch(page(6));
  tracker->own_store(page(6));
  service.data()[6 * kHostPage] = std::byte{77};
  *(guest.data() + 6 * kHostPage) = std::byte{0};
  EXPECT_EQ(tracker->harvest().pages, (Ranges{page(6)}));
}

// The rule that all coherence rests on: watch, then copy; harvest, then copy what changed.
TEST_P(Tracking, a_copy_kept_by_harvests_ends_equal_however_the_writer_races) {
  constexpr uint64_t kBytes = 64 * kHostPage;
  std::vector<std::byte> copy(kBytes);
  const auto take = [&](ArenaRange range) {
    tracker->watch(range);
    std::memcpy(copy.data() + range.begin, service.data() + range.begin, range.size());
  };
  std::atomic<bool> stop{false};
  std::jthread writer([&] {
    std::mt19937 random(11);
    while (!stop.load(std::memory_order_relaxed)) {
      // A few pages are written all the time and become hot.
      const uint64_t at = random() % 3 == 0 ? random() % (2 * kHostPage) : random() % kBytes;
      bump(guest.data() + at);
    }
  });
  take({0, kBytes});
  for (int changed = 0; changed < 300;) {
    const Changes found = tracker->harvest();
    changed += found.pages.empty() ? 0 : 1;
    for (const ArenaRange& range : found.pages) take(range);
  }
  stop = true;
  writer.join();
  for (const ArenaRange& range : tracker->harvest().pages) take(range);
  EXPECT_EQ(std::memcmp(copy.data(), guest.data(), kBytes), 0);
}

// Answers what a test says was written, and counts what is armed.
class FakeHarvester final : public Harvester {
 public:
  std::string_view name() const override { return "fake"; }
  void map_changed(std::span<const protocol::MapEntry>) override {}
  Result<void> arm(ArenaRange range) override {
    armed.push_back(range);
    return fail_next ? fail(ExitCode::internal, "the kernel said no") : Result<void>{};
  }
  Result<void> harvest(std::span<const ArenaRange> runs, std::vector<ArenaRange>& found) override {
    if (fail_next) return fail(ExitCode::internal, "the kernel said no");
    for (const ArenaRange& run : runs) {
      ++scans;
      for (const ArenaRange& w : written) {
        if (w.begin >= run.begin && w.end <= run.end) found.push_back(w);
      }
    }
    return {};
  }
  Ranges armed, written;
  int scans = 0;
  bool fail_next = false;
};

struct Faked {
  std::vector<std::byte> arena = std::vector<std::byte>(kArena);
  std::vector<std::byte> part = std::vector<std::byte>(sizeof(protocol::ReportedWrites));
  protocol::ReportedWritesWriter reports{part};
  FakeHarvester* harvester = new FakeHarvester;
  WriteTracker tracker{arena, std::unique_ptr<Harvester>(harvester), protocol::ReportedWritesReader(part)};
};

TEST(WriteTracker, a_page_written_in_harvests_running_is_left_alone_and_counts_as_changed) {
  Faked faked;
  faked.tracker.watch(page(5, 3));
  faked.harvester->written = {page(6)};
  for (uint32_t n = 0; n < WriteTracker::kHotAfter; ++n) {
    EXPECT_EQ(faked.tracker.harvest().pages, (Ranges{page(6)}));
  }
  EXPECT_EQ(faked.tracker.counters().hot_pages, 1u);
  // Hot: reported without being asked about, and not armed by being wanted.
  faked.harvester->written.clear();
  faked.harvester->armed.clear();
  EXPECT_EQ(faked.tracker.harvest(page(0, 20)).pages, (Ranges{page(6)}));
  faked.harvester->scans = 0;
  for (uint32_t n = 0; n < WriteTracker::kHotFor; ++n) {
    faked.tracker.watch(page(5, 3));
    EXPECT_EQ(faked.tracker.harvest().pages, (Ranges{page(6)})) << n;
  }
  EXPECT_EQ(faked.harvester->scans, 2 * static_cast<int>(WriteTracker::kHotFor));  // pages 5 and 7
  EXPECT_EQ(faked.harvester->armed, Ranges{});
  // After a while it is armed again, and cold when nobody wrote it.
  faked.tracker.watch(page(5, 3));
  EXPECT_EQ(faked.harvester->armed, (Ranges{page(6)}));
  EXPECT_EQ(faked.tracker.harvest().pages, Ranges{});
  EXPECT_EQ(faked.tracker.harvest().pages, Ranges{});
}

TEST(WriteTracker, a_page_that_rests_between_writes_never_becomes_hot) {
  Faked faked;
  faked.tracker.watch(page(1));
  for (int n = 0; n < 40; ++n) {
    faked.harvester->written = n % 3 == 0 ? Ranges{} : Ranges{page(1)};
    (void)faked.tracker.harvest();
  }
  EXPECT_EQ(faked.tracker.counters().hot_pages, 0u);
}

TEST(WriteTracker, only_watched_pages_are_armed_once_and_scanned) {
  Faked faked;
  faked.tracker.watch({page(2).begin + 5, page(3).begin + 1});
  faked.tracker.watch(page(2, 4));
  EXPECT_EQ(faked.harvester->armed, (Ranges{page(2, 2), page(4, 2)}));
  (void)faked.tracker.harvest();
  EXPECT_EQ(faked.harvester->scans, 1);
  EXPECT_TRUE(faked.tracker.watched(page(5).begin));
  EXPECT_FALSE(faked.tracker.watched(page(6).begin));
}

TEST(WriteTracker, reported_ranges_are_changed_and_must_be_watched_anew) {
  Faked faked;
  faked.tracker.watch(page(0, 8));
  faked.reports.report(protocol::ReportKind::changed, {page(2).begin}, {kHostPage});
  faked.reports.report(protocol::ReportKind::discarded, {page(7).begin}, {2 * kHostPage});
  const uint64_t epoch = faked.tracker.epoch();
  const Changes changes = faked.tracker.harvest();
  EXPECT_EQ(changes.pages, (Ranges{page(2), page(7)}));
  EXPECT_EQ(changes.discarded, (Ranges{page(7, 2)}));
  EXPECT_GT(faked.tracker.epoch(), epoch);
  EXPECT_FALSE(faked.tracker.watched(page(2).begin));
  EXPECT_TRUE(faked.tracker.watched(page(3).begin));
  EXPECT_EQ(faked.tracker.harvest().pages, Ranges{});
}

TEST(WriteTracker, lost_reports_and_reports_of_nonsense_change_everything_at_most) {
  Faked faked;
  faked.tracker.watch(page(0, 8));
  faked.reports.report(protocol::ReportKind::discarded, {~0ull - 5}, {3});
  faked.reports.report(static_cast<protocol::ReportKind>(77), {kArena - 1}, {~0ull});
  EXPECT_EQ(faked.tracker.take_reports().pages, Ranges{});
  for (uint64_t n = 0; n < protocol::kReportedWrites; ++n) {
    faked.reports.report(protocol::ReportKind::changed, {0}, {1});
  }
  const Changes changes = faked.tracker.take_reports();
  EXPECT_EQ(changes.pages, (Ranges{page(0, 8)}));
  EXPECT_EQ(changes.discarded, (Ranges{{0, kArena}}));
}

TEST(WriteTracker, a_kernel_that_refuses_is_replaced_by_comparing_contents) {
  Faked faked;
  faked.tracker.watch(page(0, 4));
  faked.harvester->fail_next = true;
  EXPECT_EQ(faked.tracker.harvest().pages, (Ranges{page(0, 4)})) << "nothing that was armed can be vouched for";
  EXPECT_EQ(faked.tracker.method(), "hash");
  faked.tracker.watch(page(0, 4));
  EXPECT_EQ(faked.tracker.harvest().pages, Ranges{});
  faked.arena[page(3).begin] = std::byte{1};
  EXPECT_EQ(faked.tracker.harvest().pages, (Ranges{page(3)}));

  Faked arming;
  arming.harvester->fail_next = true;
  arming.tracker.watch(page(0));
  EXPECT_EQ(arming.tracker.method(), "hash");
  arming.arena[0] = std::byte{1};
  EXPECT_EQ(arming.tracker.harvest().pages, (Ranges{page(0)}));
}

TEST(WriteTracker, the_service_s_own_stores_advance_the_epoch) {
  Faked faked;
  const uint64_t epoch = faked.tracker.epoch();
  faked.tracker.own_store(page(0));
  EXPECT_GT(faked.tracker.epoch(), epoch);
}

}  // namespace
}  // namespace orrery::memory
