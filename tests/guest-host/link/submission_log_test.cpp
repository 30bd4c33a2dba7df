#include <gtest/gtest.h>
#include <atomic>
#include <thread>

#include "guest-host/link/submission_log.hpp"

namespace orrery::link {
namespace {

using namespace std::chrono_literals;
using protocol::PartName;

struct Journal {
  protocol::ControlSegment segment = std::move(*protocol::ControlSegment::create());
  SubmissionLog log{segment};
  protocol::JournalReader reader{segment.part(PartName::journal), segment.part(PartName::journal_bytes)};
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
  j.reader.mark_retired(1);
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
  j.reader.mark_retired(1);
  j.log.collect();
  EXPECT_TRUE(*j.log.try_submit(EntryKind::submission, 0, 0ns, std::span(&piece, 1)));
  j.body.resize(j.log.largest_body() + 1);
  EXPECT_FALSE(j.submit()) << "can never fit";
}

TEST(SubmissionLog, an_entry_is_reported_done_once_whoever_says_so_first) {
  Journal j;
  ASSERT_TRUE(j.submit());
  ASSERT_TRUE(j.submit());
  EXPECT_EQ(j.log.collect(2).size(), 1u);
  j.reader.mark_retired(2);
  EXPECT_EQ(j.log.collect(2).size(), 0u);
  EXPECT_EQ(j.log.open(), std::vector<uint64_t>{1});
  j.reader.mark_retired(1);
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

}  // namespace
}  // namespace orrery::link
