#include "gpu-service/memory/scan_plan.hpp"

#include <gtest/gtest.h>

namespace orrery::memory {
namespace {

constexpr uint64_t kBase = 0x40'0000'0000;
ArenaRange pages(uint64_t first, uint64_t count) { return {first * kHostPage, (first + count) * kHostPage}; }
AddressRange at(uint64_t first, uint64_t count) {
  return {kBase + first * kHostPage, kBase + (first + count) * kHostPage};
}
// `count` pages at the guest's page `guest` show the arena from its page `arena` on.
protocol::MapEntry window(uint64_t guest, uint64_t count, uint64_t arena) {
  return {at(guest, count).begin, count * kHostPage, arena * kHostPage, 0x33, 4};
}
using Windows = std::vector<protocol::MapEntry>;
using Runs = std::vector<ArenaRange>;

// Where the plan looks, and what it says of an address.
std::vector<AddressRange> looks(const ScanPlan& plan) {
  std::vector<AddressRange> all;
  for (const auto& scan : plan.scans()) all.push_back(scan.guest);
  return all;
}
Runs arena_of(const ScanPlan::Scan& scan, std::vector<AddressRange> found) {
  Runs all;
  for_each_met(found, scan.parts, [&](const ScanPlan::Part& part, AddressRange met) {
    const uint64_t begin = met.begin - part.guest.begin + part.arena;
    all.push_back({begin, begin + (met.end - met.begin)});
  });
  return all;
}

TEST(ScanPlan, pieces_of_the_arena_that_lie_side_by_side_for_the_guest_are_one_scan) {
  const WindowIndex windows(Windows{window(0, 4, 100), window(4, 4, 50), window(8, 4, 200)});
  const ScanPlan plan(Runs{pages(50, 4), pages(100, 4), pages(200, 3)}, windows);
  ASSERT_EQ(looks(plan), (std::vector<AddressRange>{at(0, 11)}));
  EXPECT_FALSE(plan.scans()[0].gaps);
  EXPECT_EQ(arena_of(plan.scans()[0], {at(3, 2), at(7, 3)}),
            (Runs{pages(103, 1), pages(50, 1), pages(53, 1), pages(200, 2)}));
}

TEST(ScanPlan, small_gaps_are_looked_over_and_belong_to_nobody) {
  const WindowIndex windows(Windows{window(0, 1000, 0)});
  const uint64_t gap = ScanPlan::kMostGap / kHostPage;
  const ScanPlan plan(Runs{pages(0, 10), pages(20, 10), pages(30 + gap, 1), pages(32 + 2 * gap, 1)}, windows);
  ASSERT_EQ(looks(plan), (std::vector<AddressRange>{at(0, 31 + gap), at(32 + 2 * gap, 1)}));
  EXPECT_TRUE(plan.scans()[0].gaps);
  EXPECT_FALSE(plan.scans()[1].gaps);
  EXPECT_EQ(arena_of(plan.scans()[0], {at(5, 20)}), (Runs{pages(5, 5), pages(20, 5)}));
  EXPECT_EQ(arena_of(plan.scans()[0], {at(12, 3)}), Runs{});
}

TEST(ScanPlan, no_scan_reaches_over_what_no_window_shows) {
  const WindowIndex windows(Windows{window(0, 4, 0), window(5, 4, 4)});
  const ScanPlan plan(Runs{pages(0, 8)}, windows);
  EXPECT_EQ(looks(plan), (std::vector<AddressRange>{at(0, 4), at(5, 4)}));
}

TEST(ScanPlan, a_run_is_looked_at_through_every_window_that_shows_it) {
  const WindowIndex windows(Windows{window(0, 8, 0), window(5000, 4, 2)});
  const ScanPlan plan(Runs{pages(1, 3)}, windows);
  ASSERT_EQ(looks(plan), (std::vector<AddressRange>{at(1, 3), at(5000, 2)}));
  EXPECT_EQ(arena_of(plan.scans()[1], {at(5001, 1)}), (Runs{pages(3, 1)}));
}

TEST(ScanPlan, windows_that_lie_over_each_other_do_no_harm) {
  const WindowIndex windows(Windows{window(0, 8, 0), window(2, 8, 100), window(4, 2, 200)});
  const ScanPlan plan(Runs{pages(0, 8), pages(100, 8), pages(200, 2)}, windows);
  uint64_t parts = 0;
  for (const auto& scan : plan.scans()) parts += scan.parts.size();
  EXPECT_EQ(parts, 3u);
}

TEST(ScanPlan, a_plan_knows_the_runs_that_it_was_made_for) {
  const WindowIndex windows(Windows{window(0, 8, 0)});
  const ScanPlan plan(Runs{pages(1, 3)}, windows);
  EXPECT_TRUE(plan.is_for(Runs{pages(1, 3)}));
  EXPECT_FALSE(plan.is_for(Runs{pages(1, 4)}));
  EXPECT_FALSE(plan.is_for(Runs{}));
}

}  // namespace
}  // namespace orrery::memory
