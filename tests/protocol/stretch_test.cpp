#include "protocol/stretch.hpp"

#include <gtest/gtest.h>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "shared/unique_fd.hpp"

namespace orrery::protocol {
namespace {

constexpr Bytes kArena{64 << 10};
constexpr size_t kPage = 4096;
using Page = std::array<std::byte, kPage>;

// Both ends in one process; the guest's end may be used from another thread.
struct Ends {
  UniqueFd file = std::move(*make_memory_file("redo", redo_memory_size(kArena)));
  Mapping redo = std::move(*Mapping::of(file, {0}, redo_memory_size(kArena)));
  std::vector<std::byte> arena = std::vector<std::byte>(kArena.value);
  StretchSlot slot{};
  Ledger ledger{};
  StretchCommitter committer{slot, ledger, redo.bytes(), arena};

  StretchWriter life() { return StretchWriter(slot, redo.bytes(), kArena); }
  // Executes without waiting: the life dies in the wait.
  void execute_and_die(StretchWriter& writer) {
    EXPECT_FALSE(writer.commit([] { return true; }));
  }
  std::optional<RetiredStretch> take() {
    auto stretch = committer.take();
    EXPECT_TRUE(stretch) << stretch.error().describe();
    if (!stretch || !*stretch) return std::nullopt;
    committer.retire(**stretch);
    return **stretch;
  }
};

std::vector<std::byte> noise(size_t size, std::mt19937& random) {
  std::vector<std::byte> bytes(size);
  for (auto& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

TEST(Stretch, what_it_changes_appears_whole_and_its_effects_come_in_order) {
  Ends ends;
  auto writer = ends.life();
  const std::vector<std::byte> bytes(5, std::byte{7});
  ASSERT_TRUE(writer.bytes({3}, bytes));
  ASSERT_TRUE(writer.queue_event(2, 9));
  ASSERT_TRUE(writer.done(4));
  ASSERT_TRUE(writer.queue_event(2, 10));
  EXPECT_FALSE(ends.take()) << "not executed yet";
  EXPECT_EQ(ends.arena[3], std::byte{0});
  ends.execute_and_die(writer);
  const auto stretch = ends.take();
  ASSERT_TRUE(stretch);
  EXPECT_EQ(stretch->bytes, 5u);
  EXPECT_EQ(ends.arena[7], std::byte{7});
  EXPECT_EQ(ends.arena[8], std::byte{0});
  ASSERT_EQ(stretch->effects.size(), 3u);
  EXPECT_EQ(std::get<StretchEvent>(stretch->effects[0]).context_id, 9u);
  EXPECT_EQ(std::get<StretchDone>(stretch->effects[1]).sequence, 4u);
  EXPECT_EQ(std::get<StretchEvent>(stretch->effects[2]).context_id, 10u);
  EXPECT_FALSE(ends.take()) << "once";
}

TEST(Stretch, of_a_page_only_the_bytes_that_differ_from_the_twin_are_stored) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Ends ends;
    auto writer = ends.life();
    const auto twin = noise(kPage, random);
    auto now = twin;
    const auto changes = random() % (round % 3 == 0 ? 4000 : 40);
    for (uint32_t i = 0; i < changes; ++i) now[random() % kPage] = static_cast<std::byte>(random());
    // Meanwhile the CPU wrote everywhere.
    const auto cpu = noise(kPage, random);
    const uint64_t at = (random() % 16) * kPage;
    std::ranges::copy(cpu, ends.arena.begin() + static_cast<std::ptrdiff_t>(at));
    ASSERT_TRUE(writer.changed({at}, now, twin));
    ends.execute_and_die(writer);
    ends.take();
    for (size_t i = 0; i < kPage; ++i) ASSERT_EQ(ends.arena[at + i], now[i] != twin[i] ? now[i] : cpu[i]) << i;
  }
}

TEST(Stretch, a_life_that_dies_before_executing_leaves_nothing_and_the_next_one_makes_it_again) {
  Ends ends;
  {
    auto writer = ends.life();
    writer.begin();
    ASSERT_TRUE(writer.bytes({0}, std::vector<std::byte>(9, std::byte{1})));
  }
  EXPECT_FALSE(ends.take());
  EXPECT_EQ(ends.committer.life_ended(), 1u);
  EXPECT_EQ(ends.arena[0], std::byte{0});
  auto writer = ends.life();
  EXPECT_EQ(writer.number(), 1u);
  ASSERT_TRUE(writer.bytes({0}, std::vector<std::byte>(1, std::byte{2})));
  ends.execute_and_die(writer);
  const auto stretch = ends.take();
  ASSERT_TRUE(stretch);
  EXPECT_TRUE(stretch->replayed);
  EXPECT_EQ(ends.arena[0], std::byte{2});
  EXPECT_EQ(ends.arena[1], std::byte{0});
  EXPECT_EQ(ends.ledger.stretches.replayed.load(), 1u);
  EXPECT_EQ(ends.ledger.stretches.first_time.load(), 0u);
  EXPECT_EQ(ends.committer.life_ended(), 0u) << "it died with nothing begun";
}

TEST(Stretch, deaths_in_one_stretch_are_counted_and_forgotten_behind_it) {
  Ends ends;
  for (uint32_t death = 1; death <= 3; ++death) {
    ends.life().begin();
    EXPECT_EQ(ends.committer.life_ended(), death);
  }
  auto writer = ends.life();
  writer.quarantined();
  ASSERT_TRUE(writer.done(1));
  ends.execute_and_die(writer);
  ends.take();
  EXPECT_EQ(ends.ledger.stretches.quarantined.load(), 1u);
  EXPECT_EQ(ends.ledger.entries.quarantined.load(), 1u);
  ends.life().begin();
  EXPECT_EQ(ends.committer.life_ended(), 1u);
}

TEST(Stretch, an_entry_s_fate_is_the_worst_of_its_stretches) {
  Ends ends;
  ends.life().begin();
  ends.committer.life_ended();
  for (const uint64_t entry : {1, 1, 2}) {
    auto writer = ends.life();
    writer.part_of(entry);
    if (writer.number() != 1) {
      ASSERT_TRUE(writer.done(entry));
    }
    ends.execute_and_die(writer);
    ASSERT_TRUE(ends.take());
  }
  EXPECT_EQ(ends.ledger.entries.replayed.load(), 1u);
  EXPECT_EQ(ends.ledger.entries.first_time.load(), 1u);
  EXPECT_EQ(ends.ledger.stretches.first_time.load(), 2u);
}

TEST(Stretch, the_service_waits_until_it_is_retired) {
  Ends ends;
  std::jthread guest([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      ends.committer.wait(std::chrono::milliseconds(5));
      ends.take();
    }
  });
  auto writer = ends.life();
  for (uint32_t i = 1; i <= 5000; ++i) {
    ASSERT_TRUE(writer.bytes({8}, std::as_bytes(std::span(&i, 1))));
    ASSERT_TRUE(writer.commit([] { return false; }));
    uint32_t seen = 0;
    std::memcpy(&seen, ends.arena.data() + 8, 4);
    ASSERT_EQ(seen, i);
  }
  EXPECT_EQ(writer.number(), 5001u);
}

TEST(Stretch, a_record_that_makes_no_sense_is_refused_and_none_of_it_applied) {
  std::mt19937 random(11);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto ends = std::make_unique<Ends>();
    auto writer = ends->life();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer.bytes({random() % 1000}, noise(random() % 64, random)));
    ends->execute_and_die(writer);
    // Somebody scribbles on it, or says that it is longer.
    const uint64_t size = ends->slot.record_bytes.load();
    if (round % 4 == 0) {
      ends->slot.record_bytes.store(size + random() % 4 * 0x4000'0000'0000 + 1);
    } else {
      for (int i = 0; i < 3; ++i) {
        ends->redo.bytes()[random() % size] = static_cast<std::byte>(random() % 2 == 0 ? random() : 0xff);
      }
    }
    const auto before = ends->arena;
    if (auto taken = ends->committer.take(); !taken) {
      ++refused;
      EXPECT_EQ(taken.error().code, ExitCode::protocol_mismatch);
      EXPECT_EQ(ends->arena, before);
      EXPECT_FALSE(ends->committer.take()->has_value()) << "it counts as never executed";
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(Stretch, more_than_the_redo_memory_holds_is_an_error) {
  Ends ends;
  auto writer = ends.life();
  const std::vector<std::byte> much(64 << 20);
  bool refused = false;
  for (int i = 0; i < 8 && !refused; ++i) refused = !writer.bytes({0}, much);
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace orrery::protocol
