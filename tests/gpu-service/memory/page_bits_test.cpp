#include "gpu-service/memory/page_bits.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <random>

namespace orrery::memory {
namespace {

using Ranges = std::vector<ArenaRange>;

Ranges runs(const PageBits& bits, ArenaRange range, bool value) {
  Ranges found;
  bits.for_each_run(range, value, [&](ArenaRange run) { found.push_back(run); });
  return found;
}

TEST(PageBits, runs_are_the_longest_of_the_range_for_random_bits) {
  constexpr uint64_t kPages = 10'000;
  std::mt19937 random(3);
  PageBits bits(kPages * kHostPage);
  std::vector<bool> model(kPages);
  for (int round = 0; round < 500; ++round) {
    const uint64_t a = random() % kPages, b = std::min(kPages, a + random() % (random() % 2 == 0 ? 300 : kPages));
    const bool value = random() % 2 == 0;
    bits.set({a * kHostPage, b * kHostPage}, value);
    for (uint64_t page = a; page < b; ++page) model[page] = value;
    const uint64_t first = random() % kPages, last = first + random() % (kPages - first + 1);
    Ranges wanted;
    for (uint64_t page = first; page < last; ++page) {
      if (model[page] != value) continue;
      if (!wanted.empty() && wanted.back().end == page * kHostPage) {
        wanted.back().end += kHostPage;
      } else {
        wanted.push_back({page * kHostPage, (page + 1) * kHostPage});
      }
    }
    ASSERT_EQ(runs(bits, {first * kHostPage, last * kHostPage}, value), wanted);
    ASSERT_EQ(bits.count(), static_cast<uint64_t>(std::ranges::count(model, true)));
    ASSERT_EQ(bits.any({first * kHostPage, last * kHostPage}),
              std::find(model.begin() + static_cast<int>(first), model.begin() + static_cast<int>(last), true) !=
                  model.begin() + static_cast<int>(last));
  }
}

TEST(PageBits, far_apart_pages_of_a_large_arena_are_found) {
  constexpr uint64_t kArena = 64ull << 30;
  PageBits bits(kArena);
  Ranges wanted;
  for (uint64_t at = 3 * kHostPage; at < kArena; at = at * 3 + kHostPage) {
    bits.set({at, at + kHostPage}, true);
    wanted.push_back({at, at + kHostPage});
  }
  EXPECT_EQ(runs(bits, bits.all(), true), wanted);
  EXPECT_EQ(bits.count(), wanted.size());
  for (const ArenaRange& range : wanted) bits.set(range, false);
  EXPECT_FALSE(bits.any(bits.all()));
}

TEST(PageBits, parts_of_pages_count_whole_and_the_arena_s_end_cuts) {
  PageBits bits(8 * kHostPage);
  bits.set({kHostPage + 1, 2 * kHostPage + 1}, true);
  EXPECT_EQ(runs(bits, bits.all(), true), (Ranges{{kHostPage, 3 * kHostPage}}));
  bits.set({7 * kHostPage, 100 * kHostPage}, true);
  EXPECT_EQ(runs(bits, {6 * kHostPage, UINT64_MAX}, true), (Ranges{{7 * kHostPage, 8 * kHostPage}}));
  bits.set({20 * kHostPage, 30 * kHostPage}, true);
  bits.set({5, 5}, true);
  EXPECT_EQ(bits.count(), 3u);
  EXPECT_FALSE(bits.test(100 * kHostPage));
}

}  // namespace
}  // namespace orrery::memory
