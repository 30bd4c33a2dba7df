#include "gpu-service/service/refusal_log.hpp"

#include <gtest/gtest.h>

namespace orrery::service::test {
namespace {

TEST(RefusalLog, distinct_texts_are_bounded_and_all_are_counted) {
  RefusalLog log;
  uint64_t told = 0;
  for (int i = 0; i < 100000; ++i) told += log.add({"packet", std::to_string(i)}) != nullptr ? 1 : 0;
  EXPECT_EQ(log.total(), 100000u);
  EXPECT_LT(told, 600u);
  const auto* more = log.add({"packet", "0"});
  ASSERT_NE(more, nullptr);
  EXPECT_EQ(more->count, 2u);
}

TEST(RefusalLog, the_end_tells_the_counts_that_were_not_told) {
  RefusalLog log;
  for (int i = 0; i < 3; ++i) log.add({"packet", "a"});
  log.add({"packet", "b"});
  const auto untold = log.untold();
  ASSERT_EQ(untold.size(), 1u);
  EXPECT_EQ(untold[0].refusal.text, "a");
  EXPECT_EQ(untold[0].count, 3u);
  EXPECT_TRUE(log.untold().empty());
}

}  // namespace
}  // namespace orrery::service::test
