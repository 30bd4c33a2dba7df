#include <gtest/gtest.h>
#include <atomic>
#include <thread>

#include "guest-host/link/submission_log.hpp"
#include "guest-host/link/wire_codec.hpp"

namespace orrery::link {
namespace {

using namespace std::chrono_literals;
using protocol::PartName;

struct Journal {
  protocol::ControlSegment segment = std::move(*protocol::ControlSegment::create());
  SubmissionLog log{segment};
  std::vector<std::byte> body = std::vector<std::byte>(64);
  Result<uint64_t> submit() {
    const std::span<const std::byte> piece = body;
    return log.submit(EntryKind::submission, 0, 0ns, std::span(&piece, 1));
  }
};

TEST(SubmissionLog, a_full_journal_makes_the_submitter_wait_and_counts_it) {
  Journal j;
  for (uint32_t i = 0; i < protocol::kJournalEntries; ++i) ASSERT_TRUE(j.submit());
  const std::span<const std::byte> piece = j.body;
  auto now = j.log.try_submit(EntryKind::submission, 0, 0ns, std::span(&piece, 1));
  ASSERT_TRUE(now);
  EXPECT_FALSE(*now) << "no room";
  std::atomic<bool> through{false};
  std::thread title([&] {
    EXPECT_EQ(*j.submit(), protocol::kJournalEntries + 1);
    through = true;
  });
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(through);
  j.log.retire(1);
  EXPECT_EQ(j.log.collect().size(), 1u);
  title.join();
  EXPECT_EQ(j.log.queue_full().waits, 1u);
  EXPECT_GT(j.log.queue_full().waited, 0ns);
}

TEST(SubmissionLog, bodies_are_back_pressure_too) {
  Journal j;
  j.body.resize(j.log.largest_body());
  ASSERT_TRUE(j.submit());
  ASSERT_TRUE(j.submit());
  const std::span<const std::byte> piece = j.body;
  EXPECT_FALSE(*j.log.try_submit(EntryKind::submission, 0, 0ns, std::span(&piece, 1)));
  j.log.retire(1);
  j.log.collect();
  EXPECT_TRUE(*j.log.try_submit(EntryKind::submission, 0, 0ns, std::span(&piece, 1)));
  j.body.resize(j.log.largest_body() + 1);
  EXPECT_FALSE(j.submit()) << "can never fit";
}

TEST(SubmissionLog, an_entry_is_reported_done_once) {
  Journal j;
  ASSERT_TRUE(j.submit());
  ASSERT_TRUE(j.submit());
  j.log.retire(2);
  EXPECT_EQ(j.log.collect().size(), 1u);
  EXPECT_EQ(j.log.collect().size(), 0u);
  EXPECT_EQ(j.log.open(), std::vector<uint64_t>{1});
  j.log.retire(1);
  j.log.retire(3);  // never submitted
  EXPECT_EQ(j.log.collect().size(), 1u);
  EXPECT_TRUE(j.log.open().empty());
}

TEST(SubmissionLog, nobody_waits_once_the_run_is_ending) {
  Journal j;
  for (uint32_t i = 0; i < protocol::kJournalEntries; ++i) ASSERT_TRUE(j.submit());
  std::thread title([&] {
    auto result = j.submit();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ExitCode::peer_gone);
  });
  std::this_thread::sleep_for(20ms);
  j.log.stop();
  title.join();
}

TEST(SubmissionLog, entries_that_retire_in_order_are_collected_in_order) {
  for (int again = 0; again < 20; ++again) {
    Journal j;
    constexpr uint64_t kEntries = 2000;
    for (uint64_t i = 0; i < kEntries; ++i) ASSERT_TRUE(j.submit());
    std::thread service([&] {
      for (uint64_t i = 1; i <= kEntries; ++i) j.log.retire(i);
    });
    uint64_t last = 0;
    bool ordered = true;
    for (uint64_t collected = 0; collected < kEntries;) {
      for (const auto& done : j.log.collect()) {
        ordered = ordered && done.sequence == last + 1;
        last = done.sequence;
        ++collected;
      }
    }
    service.join();
    ASSERT_TRUE(ordered);
  }
}

TEST(SubmissionLog, an_end_gets_past_a_submitter_that_waits_for_a_service_that_stopped) {
  Journal j;
  j.log.attach();
  // Nobody reads the ring: fill it with news of the map.
  for (uint64_t i = 0; i < protocol::kRingCapacity / 8; ++i) j.log.announce_map(i + 1);
  std::atomic<bool> through{false};
  std::thread title([&] {
    EXPECT_EQ(*j.submit(), 1u);
    through = true;
  });
  while (j.log.submitted() == 0) std::this_thread::yield();
  EXPECT_FALSE(through);
  j.log.close();
  EXPECT_FALSE(j.log.announce_shutdown()) << "the ring is full";
  title.join();
  // The journal has the entry all the same, and the service hears of it once it reads again.
  EXPECT_EQ(j.log.open(), std::vector<uint64_t>{1});
  j.log.announce_rest();
  protocol::RingConsumer service(j.segment.part(PartName::guest_to_service));
  while (service.try_pop().value()) {
  }
  j.log.announce_rest();
  EXPECT_EQ(service.try_pop().value(), encode_submit(1));
  j.log.announce_rest();
  EXPECT_EQ(service.try_pop().value(), std::nullopt) << "announced once";
}

}  // namespace
}  // namespace orrery::link
