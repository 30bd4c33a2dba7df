#include "protocol/reported_writes.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace orrery::protocol {
namespace {

struct Shared {
  std::vector<std::byte> memory = std::vector<std::byte>(sizeof(ReportedWrites));
  ReportedWritesWriter writer{memory};
};

TEST(ReportedWrites, are_taken_once_in_order_from_where_the_reader_began) {
  Shared shared;
  shared.writer.report(ReportKind::changed, {0}, {100});
  ReportedWritesReader reader(shared.memory);
  shared.writer.report(ReportKind::discarded, {0x4000}, {0x8000});
  shared.writer.report(ReportKind::changed, {0x10000}, {1});
  std::vector<ReportedRange> ranges;
  EXPECT_TRUE(reader.take(ranges));
  EXPECT_EQ(ranges, (std::vector<ReportedRange>{{ReportKind::discarded, {0x4000}, {0xc000}},
                                                {ReportKind::changed, {0x10000}, {0x10001}}}));
  ranges.clear();
  EXPECT_TRUE(reader.take(ranges));
  EXPECT_TRUE(ranges.empty());
}

TEST(ReportedWrites, a_reader_that_was_overtaken_is_told_so_once) {
  Shared shared;
  ReportedWritesReader reader(shared.memory);
  for (uint64_t n = 0; n + 1 < kReportedWrites; ++n) shared.writer.report(ReportKind::changed, {n}, {1});
  std::vector<ReportedRange> ranges;
  EXPECT_TRUE(reader.take(ranges));
  EXPECT_EQ(ranges.size(), kReportedWrites - 1);
  for (uint64_t n = 0; n < kReportedWrites; ++n) shared.writer.report(ReportKind::changed, {n}, {1});
  EXPECT_FALSE(reader.take(ranges));
  ranges.clear();
  EXPECT_TRUE(reader.take(ranges));
  EXPECT_TRUE(ranges.empty());
}

TEST(ReportedWrites, nothing_torn_is_taken_while_another_thread_reports) {
  Shared shared;
  ReportedWritesReader reader(shared.memory);
  constexpr uint64_t kReports = 200'000;
  std::jthread writer([&] {
    for (uint64_t n = 0; n < kReports; ++n) shared.writer.report(ReportKind::changed, {n}, {n});
  });
  std::vector<ReportedRange> ranges;
  uint64_t last = 0;
  while (last + 1 < kReports) {
    ranges.clear();
    if (!reader.take(ranges)) {
      // What was reported until now is lost, the last one perhaps with it.
      if (reinterpret_cast<const ReportedWrites*>(shared.memory.data())->count.load() == kReports) break;
      continue;
    }
    for (const auto& range : ranges) {
      ASSERT_EQ(range.end.value, 2 * range.begin.value);
      ASSERT_GE(range.begin.value, last);
      last = range.begin.value;
    }
  }
}

}  // namespace
}  // namespace orrery::protocol
