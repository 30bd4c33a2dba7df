#include "shared/measure/snapshot.hpp"

#include <gtest/gtest.h>
#include <cstring>
#include <random>

#include "tests/shared/measure/measured_region.hpp"

namespace orrery::measure {
namespace {

using SnapshotTest = MeasuredRegion;

TEST_F(SnapshotTest, the_table_names_each_span_with_its_share_of_the_run) {
  region().start_ns = now_ns() - 10'000'000'000;
  record(SpanName::present, 0, 5'000'000'000, 0, {});
  count(Counter::flips, 3);
  const std::string table = table_of(*snapshot(region()));
  EXPECT_NE(table.find("guest  present "), std::string::npos) << table;
  EXPECT_NE(table.find(" 50.0%"), std::string::npos) << table;
  EXPECT_NE(table.find("guest  flips "), std::string::npos) << table;
  EXPECT_EQ(table.find("harvest"), std::string::npos) << table;
}

TEST_F(SnapshotTest, names_come_from_the_region_so_that_another_build_s_are_shown) {
  std::strncpy(region().spans[static_cast<size_t>(SpanName::commit)].data(), "another", kNameBytes);
  record(SpanName::commit, 0, 10, 0, {});
  EXPECT_EQ(snapshot(region())->spans.at(0).name, "another");
}

TEST_F(SnapshotTest, a_region_that_was_never_formatted_is_no_snapshot) {
  region().magic = 0;
  EXPECT_FALSE(snapshot(region()));
  EXPECT_TRUE(open_spans(region(), Process::guest, now_ns()).empty());
}

TEST_F(SnapshotTest, a_region_of_random_bytes_is_read_without_harm_and_its_json_stays_ascii) {
  std::mt19937_64 random(3);
  auto* const words = reinterpret_cast<uint64_t*>(&region());
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < offsetof(Region, histograms) / 8; ++i) words[i] = random();
    region().magic = kMagic;
    const auto seen = snapshot(region());
    ASSERT_TRUE(seen);
    EXPECT_LE(seen->spans.size(), kProcesses * kMostSpans);
    EXPECT_FALSE(table_of(*seen).empty());
    for (const char c : json_of(*seen)) ASSERT_TRUE(c >= 0x20 && c < 0x7f);
  }
}

TEST(DurationText, durations_are_told_in_the_unit_that_fits) {
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1'500), "1.5 us");
  EXPECT_EQ(duration_text(13'100'000), "13.1 ms");
  EXPECT_EQ(duration_text(2'310'000'000), "2.31 s");
}

}  // namespace
}  // namespace orrery::measure
