#include "shared/measure/span.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "shared/measure/snapshot.hpp"
#include "tests/shared/measure/measured_region.hpp"

namespace orrery::measure {
namespace {

constexpr Track kDevice{TrackKind::device, 0};

const SpanSummary* find(const Snapshot& snapshot, SpanName name, Process process = Process::guest) {
  const auto found = std::ranges::find_if(
      snapshot.spans, [&](const SpanSummary& s) { return s.name == fact_of(name).name && s.process == process; });
  return found == snapshot.spans.end() ? nullptr : &*found;
}

using SpanTest = MeasuredRegion;

TEST(Buckets, every_duration_lies_in_its_bucket_which_is_no_wider_than_a_sixteenth_of_it) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t ns = random() >> (22 + random() % 42);
    const size_t bucket = bucket_of(ns);
    ASSERT_LT(bucket, kBuckets) << ns;
    ASSERT_LE(bucket_begin(bucket), ns);
    ASSERT_LT(ns, bucket_begin(bucket + 1));
    ASSERT_LE((bucket_begin(bucket + 1) - bucket_begin(bucket) - 1) * 16, ns);
  }
  EXPECT_EQ(bucket_of(UINT64_MAX), kBuckets - 1);
}

TEST_F(SpanTest, count_total_largest_and_percentiles_are_those_of_the_sorted_durations) {
  std::mt19937_64 random(2);
  std::vector<uint64_t> durations;
  uint64_t total = 0;
  for (int i = 0; i < 20'000; ++i) {
    durations.push_back(100 + (random() >> (30 + random() % 30)));
    total += durations.back();
    record(SpanName::device_run, 0, durations.back(), 0, kDevice);
  }
  std::ranges::sort(durations);
  const auto seen = snapshot(region());
  ASSERT_TRUE(seen);
  const SpanSummary* span = find(*seen, SpanName::device_run);
  ASSERT_NE(span, nullptr);
  EXPECT_EQ(span->count, durations.size());
  EXPECT_EQ(span->total_ns, total);
  EXPECT_EQ(span->largest_ns, durations.back());
  const auto near = [](uint64_t told, uint64_t is) { return std::max(told, is) - std::min(told, is) <= is / 16; };
  EXPECT_PRED2(near, span->p50_ns, durations[durations.size() / 2 - 1]);
  EXPECT_PRED2(near, span->p99_ns, durations[durations.size() * 99 / 100 - 1]);
}

TEST_F(SpanTest, an_open_span_is_seen_with_its_number_and_is_gone_when_it_ends) {
  {
    const Span outer(SpanName::submission, 7);
    Span inner(SpanName::dispatch_on_device, 0x4000);
    inner.set_detail(0x8000);
    const auto open = open_spans(region(), Process::guest, now_ns());
    ASSERT_EQ(open.size(), 2u);
    EXPECT_EQ(open[0].name, "submission");
    EXPECT_EQ(open[0].detail, 7u);
    EXPECT_EQ(open[1].name, "dispatch on device");
    EXPECT_EQ(open[1].detail, 0x8000u);
    EXPECT_EQ(open[1].thread, static_cast<uint32_t>(gettid()));
    const auto words = last_words(open);
    ASSERT_EQ(words.size(), 1u);
    EXPECT_EQ(words[0].find("dispatch on device (program 0x8000) for "), 0u) << words[0];
    EXPECT_NE(words[0].find(", in submission (submission 7) for "), std::string::npos) << words[0];
  }
  EXPECT_TRUE(open_spans(region(), Process::guest, now_ns()).empty());
  EXPECT_EQ(find(*snapshot(region()), SpanName::submission)->count, 1u);
}

TEST_F(SpanTest, spans_deeper_than_are_shown_are_counted_all_the_same) {
  std::vector<std::unique_ptr<Span>> nest;
  for (size_t i = 0; i < kMostOpen + 5; ++i) nest.push_back(std::make_unique<Span>(SpanName::commit, i));
  EXPECT_EQ(open_spans(region(), Process::guest, now_ns()).size(), kMostOpen);
  while (!nest.empty()) nest.pop_back();
  EXPECT_EQ(find(*snapshot(region()), SpanName::commit)->count, kMostOpen + 5);
  EXPECT_TRUE(open_spans(region(), Process::guest, now_ns()).empty());
}

TEST_F(SpanTest, a_killed_process_leaves_what_it_counted_and_what_it_was_doing) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    attach(region(), Process::service, 3);
    {
      const Span done(SpanName::translate, 0x100);
    }
    const Span open(SpanName::present, 12);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto open = open_spans(region(), Process::service, now_ns());
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].name, "present");
  EXPECT_EQ(open[0].detail, 12u);
  EXPECT_EQ(open[0].life, 3u);
  EXPECT_EQ(open[0].thread, static_cast<uint32_t>(child));
  const auto seen = snapshot(region());
  ASSERT_NE(find(*seen, SpanName::translate, Process::service), nullptr);
  EXPECT_EQ(find(*seen, SpanName::present, Process::service), nullptr);
}

TEST_F(SpanTest, a_new_life_adds_to_what_earlier_lives_counted_and_clears_what_they_left_open) {
  for (uint32_t life = 1; life <= 5; ++life) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      attach(region(), Process::service, life);
      {
        const Span done(SpanName::harvest);
      }
      count(Counter::batches, 10);
      const Span open(SpanName::commit, life);
      ::kill(::getpid(), SIGKILL);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }
  const auto seen = snapshot(region());
  EXPECT_EQ(find(*seen, SpanName::harvest, Process::service)->count, 5u);
  ASSERT_EQ(seen->counters.size(), 1u);
  EXPECT_EQ(seen->counters[0].name, "batches");
  EXPECT_EQ(seen->counters[0].value, 50u);
  ASSERT_EQ(seen->open.size(), 1u);
  EXPECT_EQ(seen->open[0].detail, 5u);
  attach(region(), Process::service, 6);
  EXPECT_TRUE(open_spans(region(), Process::service, now_ns()).empty());
}

TEST_F(SpanTest, a_lock_wait_is_its_own_and_is_taken_out_of_the_spans_around_it) {
  std::mutex mutex;
  std::atomic<bool> held{false};
  std::thread other([&] {
    const std::lock_guard lock(mutex);
    held = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  while (!held) std::this_thread::yield();
  uint64_t whole = now_ns();
  {
    const Span outer(SpanName::submission);
    const Span inner(SpanName::read_program);
    const CountedLock lock(mutex);
  }
  whole = now_ns() - whole;
  other.join();
  const auto seen = snapshot(region());
  const SpanSummary* wait = find(*seen, SpanName::lock_wait);
  ASSERT_NE(wait, nullptr);
  EXPECT_LE(wait->total_ns + find(*seen, SpanName::submission)->total_ns, whole);
  EXPECT_LE(find(*seen, SpanName::read_program)->total_ns, find(*seen, SpanName::submission)->total_ns);
  {
    const CountedLock free(mutex);
  }
  EXPECT_EQ(find(*snapshot(region()), SpanName::lock_wait)->count, 1u);
}

TEST_F(SpanTest, threads_beyond_the_slots_are_counted_exactly) {
  constexpr size_t kThreads = 2 * kSlotsPerProcess, kRounds = 2000;
  std::vector<std::jthread> threads;
  std::atomic<size_t> ready{0};
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      count(Counter::flips);
      for (++ready; ready < kThreads;) std::this_thread::yield();
      for (size_t round = 0; round < kRounds; ++round) {
        const Span span(SpanName::acquire);
        count(Counter::submissions, 2);
      }
    });
  }
  threads.clear();
  const auto seen = snapshot(region());
  EXPECT_EQ(find(*seen, SpanName::acquire)->count, kThreads * kRounds);
  ASSERT_EQ(seen->counters.size(), 2u);
  EXPECT_EQ(seen->counters[0].value, kThreads * kRounds * 2);
  EXPECT_EQ(seen->counters[1].value, kThreads);
  uint64_t in_buckets = 0;
  for (const auto& slot : region().histograms) {
    for (const auto& bucket : slot[static_cast<size_t>(SpanName::acquire)]) in_buckets += bucket;
  }
  EXPECT_EQ(in_buckets, kThreads * kRounds);
}

TEST_F(SpanTest, a_thread_that_ends_gives_its_slot_back_and_what_it_counted_stays) {
  for (size_t i = 0; i < 3 * kSlotsPerProcess; ++i) std::thread([] { const Span span(SpanName::upload); }).join();
  EXPECT_EQ(find(*snapshot(region()), SpanName::upload)->count, 3 * kSlotsPerProcess);
  EXPECT_EQ(std::ranges::count_if(region().slots, [](const Slot& s) { return s.used != 0; }), 1);
}

TEST_F(SpanTest, a_span_is_as_much_slower_as_was_asked_for) {
  detach();
  ::setenv("ORRERY_SLOW", "harvest=50", 1);
  attach(region(), Process::guest);
  ::unsetenv("ORRERY_SLOW");
  {
    const Span slowed(SpanName::harvest);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto seen = snapshot(region());
  const SpanSummary* const span = find(*seen, SpanName::harvest);
  ASSERT_NE(span, nullptr);
  EXPECT_GE(span->total_ns, 15'000'000u);
  detach();
  attach(region(), Process::guest);
}

TEST_F(SpanTest, nothing_is_measured_after_detaching_even_by_a_span_that_is_open) {
  Span open(SpanName::commit);
  detach();
  const Span other(SpanName::harvest);
  count(Counter::flips);
  open.end();
  EXPECT_TRUE(snapshot(region())->spans.empty());
  EXPECT_TRUE(snapshot(region())->counters.empty());
}

}  // namespace
}  // namespace orrery::measure
