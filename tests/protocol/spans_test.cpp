#include "protocol/spans.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace orrery::protocol {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

struct Counted {
  std::vector<std::byte> memory = std::vector<std::byte>(sizeof(SpanCounts));
  Spans spans{memory};
};

TEST(Spans, count_total_longest_and_median_are_kept_for_each_name) {
  Counted c;
  for (int i = 0; i < 9; ++i) c.spans.add(SpanName::harvest, 1ms);
  c.spans.add(SpanName::harvest, 100ms);
  EXPECT_EQ(c.spans.count(SpanName::harvest), 10u);
  EXPECT_EQ(c.spans.total(SpanName::harvest), 109ms);
  EXPECT_EQ(c.spans.longest(SpanName::harvest), 100ms);
  EXPECT_EQ(c.spans.count(SpanName::upload), 0u);
  EXPECT_EQ(c.spans.median(SpanName::upload), 0ns);
}

TEST(Spans, medians_are_right_to_a_tenth_at_every_size) {
  for (int64_t ns = 1; ns < 1'000'000'000'000; ns = ns * 5 / 3 + 1) {
    Counted c;
    c.spans.add(SpanName::upload, nanoseconds(ns));
    const auto median = static_cast<double>(c.spans.median(SpanName::upload).count());
    EXPECT_NEAR(median, static_cast<double>(ns), static_cast<double>(ns) * 0.125) << ns;
  }
}

TEST(Spans, the_text_and_the_json_name_what_was_counted) {
  Counted c;
  EXPECT_EQ(c.spans.text(), "");
  EXPECT_EQ(c.spans.json(), "{}");
  c.spans.add(SpanName::settled_read, 0ns);
  c.spans.add(SpanName::device_run, 3ns);
  EXPECT_NE(c.spans.text().find("settled read: 1 times"), std::string::npos);
  EXPECT_EQ(c.spans.json(), R"({"settled read": {"count": 1, "total_ns": 0, "median_ns": 0, "longest_ns": 0}, )"
                            R"("device: run": {"count": 1, "total_ns": 3, "median_ns": 3, "longest_ns": 3}})");
}

TEST(Spans, several_threads_lose_nothing) {
  Counted c;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) c.spans.add(SpanName::queue_full, nanoseconds(i));
      });
    }
  }
  EXPECT_EQ(c.spans.count(SpanName::queue_full), 40'000u);
  EXPECT_EQ(c.spans.longest(SpanName::queue_full), 9999ns);
}

}  // namespace
}  // namespace orrery::protocol
