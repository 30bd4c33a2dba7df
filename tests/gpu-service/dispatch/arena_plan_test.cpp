#include "gpu-service/dispatch/arena_plan.hpp"

#include <gtest/gtest.h>

namespace orrery::dispatch {
namespace {

constexpr uint64_t kMiB = 1 << 20;
using Ranges = std::vector<ArenaRange>;

protocol::MapEntry entry(uint64_t begin, uint64_t size, uint64_t offset) { return {begin, size, offset, 0x33, 4}; }
const PlanLimits kLimits{.granule = 2 * kMiB, .largest = 64 * kMiB, .arena_size = 1024 * kMiB, .most_pieces = 8};

TEST(ArenaPlan, aliases_and_touching_entries_are_one_range) {
  const std::vector<protocol::MapEntry> entries{entry(0x10000, 0x4000, 0x8000), entry(0x20000, 0x4000, 0xc000),
                                                entry(0x30000, 0x8000, 0x8000)};
  EXPECT_EQ(mapped_ranges(entries), (Ranges{{0x8000, 0x10000}}));
}

TEST(ArenaPlan, ranges_are_rounded_out_but_never_leave_the_arena) {
  EXPECT_EQ(cover(Ranges{{kMiB, kMiB + 4096}, {3 * kMiB, 5 * kMiB}, {1023 * kMiB, 1024 * kMiB}}, kLimits),
            (Ranges{{0, 6 * kMiB}, {1022 * kMiB, 1024 * kMiB}}));
  PlanLimits odd = kLimits;
  odd.arena_size = 3 * kMiB;
  EXPECT_EQ(cover(Ranges{{2 * kMiB, 3 * kMiB}}, odd), (Ranges{{2 * kMiB, 3 * kMiB}}));
}

TEST(ArenaPlan, many_scattered_ranges_are_covered_by_few_pieces) {
  Ranges scattered;
  for (uint64_t i = 0; i < 200; ++i) scattered.push_back({i * 4 * kMiB, i * 4 * kMiB + 4096});
  const auto covered = cover(scattered, kLimits);
  EXPECT_LE(covered.size(), kLimits.most_pieces);
  for (const auto& range : scattered) {
    EXPECT_TRUE(std::any_of(covered.begin(), covered.end(),
                            [&](const auto& c) { return c.begin <= range.begin && range.end <= c.end; }));
  }
}

TEST(ArenaPlan, a_large_range_is_cut_at_multiples_of_the_largest_piece) {
  const auto change = change_pieces({}, Ranges{{60 * kMiB, 200 * kMiB}}, kLimits);
  EXPECT_TRUE(change.drop.empty());
  EXPECT_EQ(
      change.make,
      (Ranges{{60 * kMiB, 64 * kMiB}, {64 * kMiB, 128 * kMiB}, {128 * kMiB, 192 * kMiB}, {192 * kMiB, 200 * kMiB}}));
}

TEST(ArenaPlan, a_piece_that_is_still_wanted_stays) {
  const Ranges present{{0, 2 * kMiB}, {10 * kMiB, 12 * kMiB}};
  const auto change = change_pieces(present, Ranges{{0, 2 * kMiB}, {20 * kMiB, 22 * kMiB}}, kLimits);
  EXPECT_EQ(change.drop, (std::vector<size_t>{1}));
  EXPECT_EQ(change.make, (Ranges{{20 * kMiB, 22 * kMiB}}));
}

TEST(ArenaPlan, memory_that_grows_ends_up_in_one_piece) {
  const auto change = change_pieces(Ranges{{0, 2 * kMiB}}, Ranges{{0, 4 * kMiB}}, kLimits);
  EXPECT_EQ(change.drop, (std::vector<size_t>{0}));
  EXPECT_EQ(change.make, (Ranges{{0, 4 * kMiB}}));
}

TEST(ArenaPlan, a_piece_that_is_wanted_only_in_part_is_made_again) {
  const auto change = change_pieces(Ranges{{0, 8 * kMiB}}, Ranges{{0, 2 * kMiB}, {6 * kMiB, 8 * kMiB}}, kLimits);
  EXPECT_EQ(change.drop, (std::vector<size_t>{0}));
  EXPECT_EQ(change.make, (Ranges{{0, 2 * kMiB}, {6 * kMiB, 8 * kMiB}}));
}

}  // namespace
}  // namespace orrery::dispatch
