#include "guest-host/memory/range_allocator.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <random>

namespace orrery::memory {
namespace {

constexpr uint64_t kEnd = 1 << 20;

TEST(RangeAllocator, gives_the_lowest_place_that_fits_the_search_and_the_alignment) {
  RangeAllocator ranges(0, kEnd);
  EXPECT_EQ(ranges.allocate(0, kEnd, 100, 1), 0u);
  EXPECT_EQ(ranges.allocate(0, kEnd, 100, 0x1000), 0x1000u);
  EXPECT_EQ(ranges.allocate(0, kEnd, 100, 1), 100u);
  EXPECT_EQ(ranges.allocate(0x8000, kEnd, 16, 16), 0x8000u);
  EXPECT_FALSE(ranges.allocate(0x8000, 0x8010, 16, 16));
}

TEST(RangeAllocator, refuses_what_can_never_fit) {
  RangeAllocator ranges(0x1000, 0x2000);
  EXPECT_FALSE(ranges.allocate(0, kEnd, 0, 1));
  EXPECT_FALSE(ranges.allocate(0, kEnd, 0x1001, 1));
  EXPECT_FALSE(ranges.allocate(0, kEnd, ~0ull, 1));
  EXPECT_FALSE(ranges.allocate(0, kEnd, 1, 1ull << 63));
  EXPECT_TRUE(ranges.allocate(0, kEnd, 0x1000, 0x1000));
}

TEST(RangeAllocator, a_range_that_is_not_allocated_throughout_is_not_released) {
  RangeAllocator ranges(0, kEnd);
  ASSERT_EQ(ranges.allocate(0, kEnd, 0x100, 1), 0u);
  EXPECT_FALSE(ranges.release(0, 0x101));
  EXPECT_FALSE(ranges.release(0xff, 2));
  EXPECT_FALSE(ranges.release(kEnd, 1));
  EXPECT_FALSE(ranges.release(0, ~0ull));
  EXPECT_TRUE(ranges.release(0x10, 0x10));
  EXPECT_FALSE(ranges.release(0x10, 0x10));
  EXPECT_EQ(ranges.free_bytes(), kEnd - 0x100 + 0x10);
}

TEST(RangeAllocator, what_is_released_joins_its_neighbours) {
  RangeAllocator ranges(0, 300);
  ASSERT_TRUE(ranges.allocate(0, 300, 100, 1));
  ASSERT_TRUE(ranges.allocate(0, 300, 100, 1));
  ASSERT_TRUE(ranges.allocate(0, 300, 100, 1));
  ASSERT_TRUE(ranges.release(0, 100));
  ASSERT_TRUE(ranges.release(200, 100));
  ASSERT_TRUE(ranges.release(100, 100));
  EXPECT_EQ(ranges.allocate(0, 300, 300, 1), 0u);
}

TEST(RangeAllocator, agrees_with_a_byte_map_over_random_use) {
  constexpr uint64_t kSize = 512;
  RangeAllocator ranges(0, kSize);
  std::vector<bool> used(kSize);
  std::mt19937 random(7);
  for (int step = 0; step < 5000; ++step) {
    const uint64_t size = random() % 40 + 1, at = random() % kSize;
    if (random() % 2 == 0) {
      const auto place = ranges.allocate(at, kSize, size, 4);
      uint64_t expected = (at + 3) / 4 * 4;
      const auto fits = [&](uint64_t p) {
        for (uint64_t i = 0; i < size; ++i) {
          if (used[p + i]) return false;
        }
        return true;
      };
      while (expected + size <= kSize && !fits(expected)) expected += 4;
      ASSERT_EQ(place.has_value(), expected + size <= kSize) << step;
      if (!place) continue;
      ASSERT_EQ(*place, expected);
      for (uint64_t i = 0; i < size; ++i) used[*place + i] = true;
    } else {
      bool all = at + size <= kSize;
      for (uint64_t i = at; all && i < at + size; ++i) all = used[i];
      ASSERT_EQ(ranges.release(at, size), all) << step;
      for (uint64_t i = at; all && i < at + size; ++i) used[i] = false;
    }
    ASSERT_EQ(ranges.free_bytes(), static_cast<uint64_t>(std::count(used.begin(), used.end(), false)));
  }
}

}  // namespace
}  // namespace orrery::memory
