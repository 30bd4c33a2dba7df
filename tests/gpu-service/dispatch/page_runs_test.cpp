#include "gpu-service/dispatch/page_runs.hpp"

#include <gtest/gtest.h>

namespace orrery::dispatch {
namespace {

protocol::MapEntry entry(uint64_t begin, uint64_t size, uint64_t offset) { return {begin, size, offset, 0x33, 4}; }
using Runs = std::vector<PageRun>;
PageRuns of(std::vector<protocol::MapEntry> entries) { return page_runs(entries); }

TEST(PageRuns, whole_pages_are_shown) {
  const auto runs = of({entry(0x8000, 0xc000, 0x100000)});
  EXPECT_EQ(runs.runs, (Runs{{2, 3, 0x100000}}));
  EXPECT_EQ(runs.partial_pages, 0u);
}

TEST(PageRuns, pages_made_of_contiguous_entries_are_whole) {
  const auto runs = of({entry(0x8000, 0x1000, 0x3000), entry(0x9000, 0x3000, 0x4000)});
  EXPECT_EQ(runs.runs, (Runs{{2, 1, 0x3000}}));
}

TEST(PageRuns, pages_mapped_in_part_are_left_out_and_counted) {
  EXPECT_EQ(of({entry(0x5000, 0x1000, 0)}).partial_pages, 1u);
  EXPECT_EQ(of({entry(0x4000, 0x1000, 0)}).partial_pages, 1u);
  const auto runs = of({entry(0x5000, 0x8000, 0x1000)});  // 0x5000..0xd000: page 1 and 3 in part, page 2 whole
  EXPECT_EQ(runs.runs, (Runs{{2, 1, 0x4000}}));
  EXPECT_EQ(runs.partial_pages, 2u);
}

TEST(PageRuns, a_page_from_two_places_is_one_partial_page) {
  const auto runs = of({entry(0x4000, 0x2000, 0), entry(0x6000, 0x2000, 0x80000)});
  EXPECT_TRUE(runs.runs.empty());
  EXPECT_EQ(runs.partial_pages, 1u);
}

TEST(PageRuns, what_lies_behind_40_bits_is_out_of_reach) {
  const uint64_t reach = 1ull << 40;
  const auto runs = of({entry(reach - 0x8000, 0x10000, 0), entry(0x7fff00000000, 0x4000, 0x10000)});
  EXPECT_EQ(runs.runs, (Runs{{(reach - 0x8000) >> 14, 2, 0}}));
  EXPECT_EQ(runs.out_of_reach, 2u);
}

}  // namespace
}  // namespace orrery::dispatch
