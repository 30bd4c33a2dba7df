#include "shared/measure/trace_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <thread>

#include "tests/shared/measure/measured_region.hpp"

namespace orrery::measure {
namespace {

class TraceFileTest : public MeasuredRegion {
 protected:
  TraceFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "orrery-trace-XXXXXX").string();
    path_ = std::string(mkdtemp(name.data())) + "/trace.json";
  }
  ~TraceFileTest() override { std::filesystem::remove_all(std::filesystem::path(path_).parent_path()); }
  std::string text() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static size_t count(const std::string& text, const std::string& pattern) {
    const std::regex regex(pattern);
    return static_cast<size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
  }
  std::string path_;
};

TEST_F(TraceFileTest, every_span_is_an_event_with_its_place_time_and_number) {
  auto trace = TraceFile::create(region(), path_);
  ASSERT_TRUE(trace) << trace.error().describe();
  region().start_ns = 1'000'000;
  record(SpanName::device_run, 1'002'500, 700'001, 0x4000, {TrackKind::device, 0});
  record(SpanName::submission, 3'000'000, 10, 5, {TrackKind::queue, 2});
  {
    const Span span(SpanName::present, 9);
  }
  ASSERT_TRUE(trace->finish());
  EXPECT_EQ(trace->events(), 3u);
  EXPECT_EQ(trace->lost(), 0u);
  const std::string all = text();
  EXPECT_EQ(all.front(), '[');
  EXPECT_TRUE(all.ends_with("}\n]\n"));
  EXPECT_NE(all.find("{\"ph\":\"X\",\"name\":\"device: run\",\"pid\":0,\"tid\":5000000000,\"ts\":2.500,\"dur\":700.001,"
                     "\"args\":{\"program\":\"0x4000\"}}"),
            std::string::npos)
      << all;
  EXPECT_EQ(count(all, "\"name\":\"submission\",\"pid\":0,\"tid\":6000000002,\"ts\":2000.000"), 1u);
  EXPECT_EQ(count(all, "\"name\":\"present\".*\"args\":\\{\"flip\":\"9\"\\}"), 1u);
  EXPECT_EQ(count(all, "\"thread_name\",\"args\":\\{\"name\":\"(device|queue 2)\""), 2u);
}

TEST_F(TraceFileTest, device_work_never_overlaps_though_its_clock_was_calibrated_in_between) {
  auto trace = TraceFile::create(region(), path_);
  ASSERT_TRUE(trace);
  region().start_ns = 0;
  record(SpanName::device_run, 1000, 500, 0, {TrackKind::device, 0});
  record(SpanName::device_run, 1400, 300, 0, {TrackKind::device, 0});
  record(SpanName::device_run, 1450, 100, 0, {TrackKind::device, 0});
  ASSERT_TRUE(trace->finish());
  EXPECT_EQ(count(text(), "\"ts\":1.000,\"dur\":0.500"), 1u);
  EXPECT_EQ(count(text(), "\"ts\":1.500,\"dur\":0.200"), 1u);
  EXPECT_EQ(count(text(), "\"ts\":1.700,\"dur\":0.000"), 1u);
}

TEST_F(TraceFileTest, what_a_killed_life_did_and_left_open_is_in_the_trace_and_the_next_has_its_own_process) {
  auto trace = TraceFile::create(region(), path_);
  ASSERT_TRUE(trace);
  for (uint32_t life = 1; life <= 2; ++life) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      attach(region(), Process::service, life);
      {
        const Span done(SpanName::translate, 1);
      }
      const Span open(SpanName::present, 12);
      ::kill(::getpid(), SIGKILL);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    trace->life_ended();
  }
  ASSERT_TRUE(trace->finish());
  const std::string all = text();
  EXPECT_EQ(count(all, "\"name\":\"translate\",\"pid\":1,"), 1u);
  EXPECT_EQ(count(all, "\"name\":\"translate\",\"pid\":2,"), 1u);
  EXPECT_EQ(count(all, "\"name\":\"present\",\"pid\":[12],.*\"flip\":\"12\",\"unfinished\":true"), 2u);
  EXPECT_EQ(count(all, "\"name\":\"GPU service, life [12]\""), 2u);
}

TEST_F(TraceFileTest, events_that_came_too_fast_are_counted_and_the_rest_is_whole) {
  auto trace = TraceFile::create(region(), path_);
  ASSERT_TRUE(trace);
  constexpr size_t kAll = 3 * kEventsPerSlot;
  for (size_t i = 0; i < kAll; ++i) record(SpanName::commit, 5000, 7, 1, {});
  ASSERT_TRUE(trace->finish());
  EXPECT_EQ(trace->events() + trace->lost(), kAll);
  EXPECT_GE(trace->events(), kEventsPerSlot - 1);
  EXPECT_EQ(count(text(), "events were lost"), 1u);
}

TEST_F(TraceFileTest, while_threads_write_no_event_is_torn) {
  auto trace = TraceFile::create(region(), path_);
  ASSERT_TRUE(trace);
  region().start_ns = 0;
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (uint64_t t = 1; t <= 3; ++t) {
    threads.emplace_back([&] {
      // Start, duration and number all tell the same count.
      for (uint64_t i = 1; !stop; ++i) record(SpanName::upload, i * 1000, i * 1000, i, {});
    });
  }
  while (trace->events() < 50'000) trace->drain();
  stop = true;
  threads.clear();
  ASSERT_TRUE(trace->finish());
  const std::string all = text();
  EXPECT_EQ(count(all, "\"ts\":([0-9]+)\\.000,\"dur\":\\1\\.000,\"args\":\\{\"bytes\":\"\\1\"\\}\\}"), trace->events());
}

TEST_F(TraceFileTest, nothing_is_noted_without_a_trace) {
  {
    const Span span(SpanName::present, 9);
  }
  for (const Slot& slot : region().slots) EXPECT_EQ(slot.events, 0u);
}

TEST_F(TraceFileTest, a_file_that_cannot_be_made_is_named) {
  const auto trace = TraceFile::create(region(), "/nowhere/trace.json");
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("/nowhere/trace.json"), std::string::npos);
}

}  // namespace
}  // namespace orrery::measure
