#include "protocol/address_map.hpp"

#include <gtest/gtest.h>
#include <atomic>
#include <random>
#include <thread>

namespace orrery::protocol {
namespace {

constexpr Bytes kArena{1ull << 30};

struct MapMemory {
  MapMemory() : words(address_map_memory() / 8) {}
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words)); }
  std::vector<uint64_t> words;
};

TEST(AddressMap, an_address_is_found_in_the_entry_that_holds_it) {
  MapMemory memory;
  AddressMapWriter writer(memory.bytes());
  const std::vector<MapEntry> map{
      {0x10000, 0x4000, 0, 3, 1}, {0x14000, 0x4000, 0x8000, 3, 1}, {0x20000, 0x4000, 0x4000, 3, 1}};
  ASSERT_TRUE(writer.publish(map));
  AddressMapReader reader(memory.bytes(), kArena);
  uint64_t version = 0;
  auto copy = reader.snapshot(&version);
  ASSERT_TRUE(copy);
  EXPECT_EQ(version, reader.version());
  ASSERT_EQ(copy->size(), 3u);
  EXPECT_EQ(find_entry(*copy, GuestAddress{0xffff}), nullptr);
  EXPECT_EQ(find_entry(*copy, GuestAddress{0x10000})->arena_offset, 0u);
  EXPECT_EQ(find_entry(*copy, GuestAddress{0x13fff})->arena_offset, 0u);
  EXPECT_EQ(find_entry(*copy, GuestAddress{0x14000})->arena_offset, 0x8000u);
  EXPECT_EQ(find_entry(*copy, GuestAddress{0x18000}), nullptr);
  EXPECT_EQ(find_entry(*copy, GuestAddress{0x23fff})->arena_offset, 0x4000u);
  EXPECT_EQ(find_entry(*copy, GuestAddress{0x24000}), nullptr);
}

TEST(AddressMap, overlapping_unsorted_and_wrapping_maps_are_refused) {
  MapMemory memory;
  AddressMapWriter writer(memory.bytes());
  EXPECT_FALSE(writer.publish(std::vector<MapEntry>{{0x10000, 0x8000, 0, 3, 1}, {0x14000, 0x4000, 0, 3, 1}}));
  EXPECT_FALSE(writer.publish(std::vector<MapEntry>{{0x20000, 0x4000, 0, 3, 1}, {0x10000, 0x4000, 0, 3, 1}}));
  EXPECT_FALSE(writer.publish(std::vector<MapEntry>{{~0ull - 0xfff, 0x4000, 0, 3, 1}}));
  EXPECT_FALSE(writer.publish(std::vector<MapEntry>{{0x10001, 0x4000, 0, 3, 1}}));
  EXPECT_FALSE(writer.publish(std::vector<MapEntry>{{0x10000, 0, 0, 3, 1}}));
}

TEST(AddressMap, a_map_that_leaves_the_arena_is_refused_by_the_reader) {
  MapMemory memory;
  AddressMapWriter writer(memory.bytes());
  ASSERT_TRUE(writer.publish(std::vector<MapEntry>{{0x10000, 0x4000, kArena.value - 0x1000, 3, 1}}));
  auto copy = AddressMapReader(memory.bytes(), kArena).snapshot();
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().code, ExitCode::protocol_mismatch);
}

TEST(AddressMap, a_reader_never_sees_half_a_change) {
  MapMemory memory;
  AddressMapWriter writer(memory.bytes());
  // Every published map holds one generation number in all entries, and that many entries.
  auto map_of = [](uint32_t generation) {
    std::vector<MapEntry> map(1 + generation % 50);
    for (size_t i = 0; i < map.size(); ++i) map[i] = {0x10000 + i * 0x4000, 0x4000, 0, generation, 1};
    return map;
  };
  ASSERT_TRUE(writer.publish(map_of(0)));
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (uint32_t g = 1; !stop; ++g) {
      ASSERT_TRUE(writer.publish(map_of(g)));
      // A title changes its map a few thousand times a second at most.
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  AddressMapReader reader(memory.bytes(), kArena);
  uint32_t newest = 0;
  while (newest < 2000) {
    auto copy = reader.snapshot();
    ASSERT_TRUE(copy) << copy.error().describe();
    const uint32_t generation = copy->front().protection;
    newest = generation;
    ASSERT_EQ(copy->size(), 1 + generation % 50);
    for (const MapEntry& entry : *copy) ASSERT_EQ(entry.protection, generation);
  }
  stop = true;
  other.join();
}

}  // namespace
}  // namespace orrery::protocol
