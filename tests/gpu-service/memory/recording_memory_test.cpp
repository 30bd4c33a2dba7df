#include "gpu-service/memory/recording_memory.hpp"

#include <gtest/gtest.h>
#include <cstring>
#include <random>

namespace orrery::memory {
namespace {

constexpr uint64_t kArena = 1 << 20, kBase = 0x10000;

struct Guest {
  std::vector<std::byte> arena = std::vector<std::byte>(kArena);
  std::vector<uint64_t> map_words = std::vector<uint64_t>(protocol::address_map_memory() / 8 + 1);
  std::span<std::byte> map_bytes = std::as_writable_bytes(std::span(map_words));
  protocol::AddressMapWriter writer{map_bytes};
  GuestMemory memory{arena, protocol::AddressMapReader(map_bytes, {kArena})};
  uint64_t checked_spans = 0;

  explicit Guest(uint64_t size = 0x10000) { publish({{kBase, size, 0, 0x33, 4}}); }
  void publish(std::vector<protocol::MapEntry> entries) {
    ASSERT_TRUE(writer.publish(entries));
    ASSERT_TRUE(memory.refresh());
  }
  SettledRead reader() {
    return [this](GuestAddress at, std::span<std::byte> out) { return memory.read(at, out).has_value(); };
  }
  NotesCheck check(const MemoryNotes& notes) {
    return check_notes(notes, memory, [](GuestSpan) { return false; }, checked_spans);
  }
};

std::vector<std::byte> read(RecordingMemory& memory, uint64_t at, size_t size) {
  std::vector<std::byte> bytes(size);
  EXPECT_TRUE(memory.read({at}, bytes));
  return bytes;
}

GuestSpan span(uint64_t begin, uint64_t size) { return {{begin}, {size}}; }

TEST(RecordingMemory, repeated_and_touching_reads_merge) {
  Guest guest;
  RecordingMemory memory(guest.memory, guest.reader());
  read(memory, kBase + 0x100, 16);
  read(memory, kBase + 0x120, 16);
  read(memory, kBase + 0x100, 16);
  read(memory, kBase + 0x110, 16);
  read(memory, kBase + 0x140, 8);
  const MemoryNotes notes = memory.take_notes();
  ASSERT_EQ(notes.read.size(), 2u);
  EXPECT_EQ(notes.read[0].span, span(kBase + 0x100, 0x30));
  EXPECT_EQ(notes.read[1].span, span(kBase + 0x140, 8));
  EXPECT_EQ(memory.reads(), 5u);
}

TEST(RecordingMemory, any_order_of_overlapping_reads_gives_the_spans_and_hashes_of_the_union) {
  Guest guest;
  std::mt19937 random(7);
  for (auto& byte : guest.arena) byte = static_cast<std::byte>(random());
  for (int round = 0; round < 300; ++round) {
    RecordingMemory memory(guest.memory, guest.reader());
    std::vector<bool> touched(0x400);
    for (int n = 0; n < 25; ++n) {
      const size_t begin = random() % 0x3c0, size = 1 + random() % 0x40;
      read(memory, kBase + begin, size);
      for (size_t i = begin; i < begin + size; ++i) touched[i] = true;
    }
    std::vector<std::pair<size_t, size_t>> expected;
    for (size_t i = 0; i < touched.size(); ++i) {
      if (!touched[i]) continue;
      if (i == 0 || !touched[i - 1]) expected.push_back({i, 0});
      ++expected.back().second;
    }
    const MemoryNotes notes = memory.take_notes();
    ASSERT_EQ(notes.read.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(notes.read[i].span, span(kBase + expected[i].first, expected[i].second));
      EXPECT_EQ(notes.read[i].hash, hash_bytes(std::span(guest.arena).subspan(expected[i].first, expected[i].second)));
    }
  }
}

TEST(RecordingMemory, a_byte_read_invalidates_and_a_byte_only_asked_to_be_mapped_does_not) {
  Guest guest;
  RecordingMemory memory(guest.memory, guest.reader());
  read(memory, kBase + 0x200, 4);
  EXPECT_TRUE(memory.mapped({kBase + 0x1000}, {0x2000}));
  const MemoryNotes notes = memory.take_notes();
  EXPECT_EQ(guest.check(notes), NotesCheck::same);
  guest.arena[0x1000] = std::byte{1};
  guest.arena[0x204] = std::byte{1};
  guest.arena[0x1ff] = std::byte{1};
  EXPECT_EQ(guest.check(notes), NotesCheck::same);
  guest.arena[0x203] = std::byte{1};
  EXPECT_EQ(guest.check(notes), NotesCheck::bytes_changed);
  guest.arena[0x203] = std::byte{0};
  EXPECT_EQ(guest.check(notes), NotesCheck::same);
  EXPECT_EQ(guest.checked_spans, 4u);
}

TEST(RecordingMemory, presence_invalidates_both_ways) {
  Guest guest;
  RecordingMemory memory(guest.memory, guest.reader());
  EXPECT_TRUE(memory.mapped({kBase + 0x8000}, {0x8000}));
  EXPECT_FALSE(memory.mapped({kBase + 0xc000}, {0x8000}));
  std::vector<std::byte> bytes(16);
  EXPECT_FALSE(memory.read({kBase + 0xfff8}, bytes));
  const MemoryNotes notes = memory.take_notes();
  EXPECT_EQ(notes.unmapped.size(), 2u);
  EXPECT_EQ(guest.check(notes), NotesCheck::same);
  guest.publish({{kBase, 0x8000, 0, 0x33, 4}});
  EXPECT_EQ(guest.check(notes), NotesCheck::no_longer_mapped);
  guest.publish({{kBase, 0x20000, 0, 0x33, 4}});
  EXPECT_EQ(guest.check(notes), NotesCheck::now_mapped);
  guest.publish({{kBase, 0x10000, 0x20000, 0x33, 4}});
  EXPECT_EQ(guest.check(notes), NotesCheck::same);
}

TEST(RecordingMemory, touching_presence_merges_and_what_is_unmapped_stays_as_asked) {
  Guest guest;
  RecordingMemory memory(guest.memory, guest.reader());
  for (const uint64_t at : {0x3000u, 0x1000u, 0x2000u}) EXPECT_TRUE(memory.mapped({kBase + at}, {0x1000}));
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_FALSE(memory.mapped({0}, {0x1000}));
    EXPECT_FALSE(memory.mapped({0x1000}, {0x1000}));
  }
  const MemoryNotes notes = memory.take_notes();
  ASSERT_EQ(notes.mapped.size(), 1u);
  EXPECT_EQ(notes.mapped[0], span(kBase + 0x1000, 0x3000));
  EXPECT_EQ(notes.unmapped.size(), 2u);
}

TEST(RecordingMemory, work_that_may_still_write_read_bytes_proves_nothing) {
  Guest guest;
  RecordingMemory memory(guest.memory, guest.reader());
  read(memory, kBase, 64);
  const MemoryNotes notes = memory.take_notes();
  const auto writes_last_byte = [](GuestSpan s) { return s.begin.value + s.size.value > kBase + 63; };
  EXPECT_EQ(check_notes(notes, guest.memory, writes_last_byte, guest.checked_spans), NotesCheck::may_still_change);
}

TEST(RecordingMemory, bytes_that_change_between_two_reads_are_not_checkable) {
  Guest guest;
  RecordingMemory memory(guest.memory, guest.reader());
  read(memory, kBase, 64);
  guest.arena[32] = std::byte{9};
  read(memory, kBase + 0x20, 64);
  EXPECT_NE(memory.take_notes().not_checkable, "");
}

TEST(RecordingMemory, too_many_spans_are_not_checkable_and_take_no_memory) {
  Guest guest(0x100000);
  RecordingMemory memory(guest.memory, guest.reader());
  for (uint64_t i = 0; i < kMostNotedSpans; ++i) read(memory, kBase + i * 8, 4);
  RecordingMemory few = memory;
  EXPECT_EQ(few.take_notes().read.size(), kMostNotedSpans);
  read(memory, kBase + kMostNotedSpans * 8, 4);
  const MemoryNotes notes = memory.take_notes();
  EXPECT_NE(notes.not_checkable, "");
  EXPECT_TRUE(notes.read.empty());
}

}  // namespace
}  // namespace orrery::memory
