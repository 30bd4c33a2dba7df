#include "protocol/journal.hpp"

#include <gtest/gtest.h>
#include <atomic>
#include <random>
#include <thread>

namespace orrery::protocol {
namespace {

struct JournalMemory {
  explicit JournalMemory(size_t body_bytes)
      : entries(sizeof(JournalEntry) * kJournalEntries / 8), bodies(body_bytes / 8) {}
  std::span<std::byte> entry_bytes() { return std::as_writable_bytes(std::span(entries)); }
  std::span<std::byte> body_bytes() { return std::as_writable_bytes(std::span(bodies)); }
  std::vector<uint64_t> entries, bodies;
};

std::optional<uint64_t> append(JournalWriter& writer, std::vector<std::byte> body, uint32_t queue = 0) {
  const std::span<const std::byte> piece(body);
  return writer.try_append(EntryKind::submission, queue, 0, std::span(&piece, 1));
}

TEST(Journal, what_was_appended_is_read_back_until_it_is_retired) {
  JournalMemory memory(4096);
  JournalWriter writer(memory.entry_bytes(), memory.body_bytes());
  JournalReader reader(memory.entry_bytes(), memory.body_bytes());
  std::mt19937 random(3);
  for (uint64_t i = 1; i <= 20000; ++i) {  // several times around both rings
    std::vector<std::byte> body(random() % 700);
    for (auto& b : body) b = static_cast<std::byte>(random());
    auto sequence = append(writer, body, 5);
    ASSERT_TRUE(sequence);
    EXPECT_EQ(*sequence, i);
    auto entry = reader.read(i);
    ASSERT_TRUE(entry) << entry.error().describe();
    EXPECT_EQ(entry->body, body);
    EXPECT_EQ(entry->queue, 5u);
    EXPECT_FALSE(writer.retired(i));
    writer.mark_retired(i);
    EXPECT_TRUE(writer.retired(i));
  }
  EXPECT_EQ(writer.reclaim(), 0u);
}

TEST(Journal, readers_know_which_entries_are_open_and_which_were_ever_there) {
  JournalMemory memory(1 << 16);
  JournalWriter writer(memory.entry_bytes(), memory.body_bytes());
  JournalReader reader(memory.entry_bytes(), memory.body_bytes());
  EXPECT_EQ(reader.newest(), 0u);
  EXPECT_FALSE(reader.reached(1));
  for (uint64_t i = 1; i <= 3 * kJournalEntries; ++i) {
    ASSERT_EQ(append(writer, std::vector<std::byte>(8)), i);
    ASSERT_TRUE(reader.open(i));
    ASSERT_TRUE(reader.reached(i));
    ASSERT_FALSE(reader.reached(i + 1));
    if (i > 2) {
      writer.mark_retired(i - 2);
      ASSERT_FALSE(reader.open(i - 2));
      ASSERT_TRUE(reader.reached(i - 2));
    }
  }
  EXPECT_EQ(reader.newest(), 3ull * kJournalEntries);
  EXPECT_EQ(reader.open_entries().size(), 2u);
  EXPECT_TRUE(reader.reached(1)) << "its slot holds a newer one";
  EXPECT_FALSE(reader.open(1));
}

TEST(Journal, a_full_journal_pushes_back_until_the_oldest_retires) {
  JournalMemory memory(4096);
  JournalWriter writer(memory.entry_bytes(), memory.body_bytes());
  std::vector<uint64_t> open;
  while (auto s = append(writer, std::vector<std::byte>(1000))) open.push_back(*s);
  ASSERT_GE(open.size(), 3u);
  writer.mark_retired(open[1]);  // not the oldest: nothing is freed in front of it
  EXPECT_FALSE(append(writer, std::vector<std::byte>(1000)));
  writer.mark_retired(open[0]);
  EXPECT_TRUE(append(writer, std::vector<std::byte>(1000)));
}

TEST(Journal, entries_run_out_before_bodies_do_when_bodies_are_small) {
  JournalMemory memory(1 << 20);
  JournalWriter writer(memory.entry_bytes(), memory.body_bytes());
  uint32_t appended = 0;
  while (append(writer, std::vector<std::byte>(8))) ++appended;
  EXPECT_EQ(appended, kJournalEntries);
}

TEST(Journal, a_new_life_finds_exactly_what_is_not_retired_in_order) {
  JournalMemory memory(1 << 16);
  JournalWriter writer(memory.entry_bytes(), memory.body_bytes());
  JournalReader reader(memory.entry_bytes(), memory.body_bytes());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(writer, std::vector<std::byte>(16)));
  for (uint64_t s : {1, 2, 5, 9}) writer.mark_retired(s);
  EXPECT_EQ(reader.open_entries(), (std::vector<uint64_t>{3, 4, 6, 7, 8, 10}));
}

TEST(Journal, a_body_larger_than_half_the_ring_is_refused) {
  JournalMemory memory(4096);
  JournalWriter writer(memory.entry_bytes(), memory.body_bytes());
  EXPECT_EQ(writer.largest_body(), 2048u);
  EXPECT_FALSE(append(writer, std::vector<std::byte>(2049)));
  EXPECT_TRUE(append(writer, std::vector<std::byte>(2048)));
}

TEST(Journal, a_damaged_entry_is_an_error_and_never_a_stray_read) {
  std::mt19937_64 random(5);
  size_t errors = 0;
  for (int round = 0; round < 3000; ++round) {
    JournalMemory memory(4096);
    JournalWriter writer(memory.entry_bytes(), memory.body_bytes());
    ASSERT_TRUE(append(writer, std::vector<std::byte>(64)));
    auto* words = reinterpret_cast<uint64_t*>(memory.entry_bytes().data() + sizeof(JournalEntry));
    words[random() % (sizeof(JournalEntry) / 8)] = random() % 2 ? random() : random() % 8192;
    JournalReader reader(memory.entry_bytes(), memory.body_bytes());
    auto entry = reader.read(1);
    if (entry) {
      EXPECT_LE(entry->body.size(), 4096u);
    } else {
      EXPECT_EQ(entry.error().code, ExitCode::protocol_mismatch);
      ++errors;
    }
  }
  EXPECT_GT(errors, 100u);
}

TEST(Journal, an_entry_that_changes_while_it_is_read_never_leads_out_of_the_bodies) {
  JournalMemory memory(4096);
  JournalWriter writer(memory.entry_bytes(), memory.body_bytes());
  JournalReader reader(memory.entry_bytes(), memory.body_bytes());
  ASSERT_TRUE(append(writer, std::vector<std::byte>(64)));
  auto& entry = reinterpret_cast<JournalEntry*>(memory.entry_bytes().data())[1];
  std::atomic<bool> end{false};
  std::thread other([&] {
    for (uint64_t i = 0; !end.load(std::memory_order_relaxed); ++i) {
      std::atomic_ref(entry.body_size).store(i % 2 == 0 ? 64 : 1ull << 40, std::memory_order_relaxed);
      std::atomic_ref(entry.body_position).store(i % 3 == 0 ? 0 : ~0ull, std::memory_order_relaxed);
    }
  });
  for (int i = 0; i < 20000; ++i) {
    if (const auto copy = reader.read(1)) {
      EXPECT_EQ(copy->body.size(), 64u);
    } else {
      EXPECT_EQ(copy.error().code, ExitCode::protocol_mismatch);
    }
  }
  end = true;
  other.join();
}

}  // namespace
}  // namespace orrery::protocol
