#include "gpu-service/service/journal_feed.hpp"

#include <gtest/gtest.h>

namespace orrery::service {
namespace {

using Sequences = std::vector<uint64_t>;

struct Journal {
  void append() {
    const std::vector<std::byte> body(16);
    const std::span<const std::byte> piece(body);
    ASSERT_TRUE(writer.try_append(protocol::EntryKind::submission, 0, 0, std::span(&piece, 1)));
  }
  std::vector<std::byte> entries = std::vector<std::byte>(sizeof(protocol::JournalEntry) * protocol::kJournalEntries);
  std::vector<std::byte> bodies = std::vector<std::byte>(1 << 16);
  protocol::JournalWriter writer{entries, bodies};
  protocol::JournalReader reader{entries, bodies};
};

Sequences popped(JournalFeed& feed) {
  Sequences sequences;
  while (!feed.empty()) sequences.push_back(feed.pop().sequence);
  return sequences;
}

TEST(JournalFeed, what_a_walk_passed_before_it_was_appended_runs_once) {
  Journal journal;
  int walks = 0;
  // Each walk has passed the slot of an entry whose successor it still finds.
  JournalFeed feed(journal.reader, [&] {
    if (++walks == 1) {
      journal.append();
      journal.append();
      return Sequences{2};
    }
    for (int i = 0; i < 2; ++i) journal.append();
    return Sequences{1, 2, 4};
  });
  ASSERT_TRUE(feed.take_open());
  EXPECT_EQ(popped(feed), (Sequences{1, 2}));
  for (uint64_t sequence = 1; sequence <= 4; ++sequence) ASSERT_TRUE(feed.announced(sequence));
  EXPECT_EQ(popped(feed), (Sequences{3, 4}));
}

TEST(JournalFeed, nothing_open_at_the_start_leaves_everything_to_the_announcements) {
  Journal journal;
  JournalFeed feed(journal.reader);
  for (int i = 0; i < 3; ++i) journal.append();
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) journal.writer.mark_retired(sequence);
  ASSERT_TRUE(feed.take_open());
  for (int i = 0; i < 3; ++i) journal.append();
  // Out of order, and one that is retired.
  for (const uint64_t sequence : {2, 5, 4, 6}) ASSERT_TRUE(feed.announced(sequence));
  EXPECT_EQ(popped(feed), (Sequences{4, 5, 6}));
}

}  // namespace
}  // namespace orrery::service
