#include "gpu-service/memory/guest_memory.hpp"

#include <gtest/gtest.h>
#include <cstring>

namespace orrery::memory {
namespace {

using protocol::MapEntry;

constexpr uint64_t kArena = 1 << 20;

struct Guest {
  std::vector<std::byte> arena = std::vector<std::byte>(kArena);
  std::vector<uint64_t> map_words = std::vector<uint64_t>(protocol::address_map_memory() / 8 + 1);
  std::span<std::byte> map_bytes = std::as_writable_bytes(std::span(map_words));
  protocol::AddressMapWriter writer{map_bytes};
  GuestMemory memory{arena, protocol::AddressMapReader(map_bytes, {kArena})};

  void publish(std::vector<MapEntry> entries) {
    ASSERT_TRUE(writer.publish(entries));
    ASSERT_TRUE(memory.refresh());
  }
};

constexpr MapEntry entry(uint64_t begin, uint64_t size, uint64_t offset) { return {begin, size, offset, 0x33, 4}; }

TEST(GuestMemory, nothing_is_mapped_before_a_map_is_published) {
  Guest guest;
  ASSERT_TRUE(guest.memory.refresh());
  EXPECT_FALSE(guest.memory.mapped({0}, {0}));
  EXPECT_FALSE(guest.memory.mapped({0x4000}, {1}));
  EXPECT_FALSE(guest.memory.read_u32({0}));
}

TEST(GuestMemory, a_word_written_through_the_map_lands_at_its_arena_offset) {
  Guest guest;
  guest.publish({entry(0x10000, 0x4000, 0x8000)});
  ASSERT_TRUE(guest.memory.write_u32({0x10010}, 0xdeadbeef));
  uint32_t value = 0;
  std::memcpy(&value, guest.arena.data() + 0x8010, 4);
  EXPECT_EQ(value, 0xdeadbeefu);
  EXPECT_EQ(guest.memory.read_u32({0x10010}).value(), 0xdeadbeefu);
}

TEST(GuestMemory, a_range_over_touching_entries_is_read_in_address_order) {
  Guest guest;
  guest.publish({entry(0x10000, 0x4000, 0x8000), entry(0x14000, 0x4000, 0x0)});
  ASSERT_TRUE(guest.memory.write_u64({0x13ffc}, 0x1122334455667788));
  uint32_t low = 0, high = 0;
  std::memcpy(&low, guest.arena.data() + 0xbffc, 4);
  std::memcpy(&high, guest.arena.data(), 4);
  EXPECT_EQ(low, 0x55667788u);
  EXPECT_EQ(high, 0x11223344u);
  EXPECT_EQ(guest.memory.read_u64({0x13ffc}).value(), 0x1122334455667788u);
}

TEST(GuestMemory, pieces_merge_only_where_the_arena_is_contiguous) {
  Guest guest;
  guest.publish({entry(0x10000, 0x4000, 0x8000), entry(0x14000, 0x4000, 0xc000), entry(0x18000, 0x4000, 0x0)});
  const auto pieces = guest.memory.pieces({0x12000}, {0x8000});
  ASSERT_TRUE(pieces);
  ASSERT_EQ(pieces->size(), 2u);
  EXPECT_EQ((*pieces)[0].address.value, 0x12000u);
  EXPECT_EQ((*pieces)[0].offset.value, 0xa000u);
  EXPECT_EQ((*pieces)[0].size.value, 0x6000u);
  EXPECT_EQ((*pieces)[1].address.value, 0x18000u);
  EXPECT_EQ((*pieces)[1].offset.value, 0x0u);
  EXPECT_EQ((*pieces)[1].size.value, 0x2000u);
}

TEST(GuestMemory, a_range_with_one_unmapped_byte_is_refused_whole) {
  Guest guest;
  guest.publish({entry(0x10000, 0x4000, 0), entry(0x15000, 0x1000, 0x4000)});
  std::vector<std::byte> bytes(0x4001, std::byte{7});
  EXPECT_TRUE(guest.memory.mapped({0x10000}, {0x4000}));
  EXPECT_FALSE(guest.memory.mapped({0x10000}, {0x4001}));
  const auto written = guest.memory.write({0x10000}, bytes);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("0x10000"), std::string::npos);
  EXPECT_EQ(guest.arena[0], std::byte{0}) << "nothing may be copied before the refusal";
  EXPECT_FALSE(guest.memory.read({0x14fff}, std::span(bytes).first(2)));
  EXPECT_FALSE(guest.memory.pieces({0x10000}, {0x6000}));
}

TEST(GuestMemory, overflowing_lengths_are_refused) {
  Guest guest;
  guest.publish({entry(0x10000, 0x4000, 0)});
  EXPECT_FALSE(guest.memory.mapped({0x10000}, {UINT64_MAX}));
  EXPECT_FALSE(guest.memory.mapped({0x13fff}, {UINT64_MAX - 0x13fff + 1}));
  EXPECT_FALSE(guest.memory.mapped({UINT64_MAX}, {1}));
  EXPECT_FALSE(guest.memory.mapped({UINT64_MAX}, {UINT64_MAX}));
  EXPECT_FALSE(guest.memory.pieces({0x10001}, {UINT64_MAX}));
  EXPECT_FALSE(guest.memory.read_u64({UINT64_MAX - 3}));
}

TEST(GuestMemory, the_top_of_the_address_space_can_be_mapped) {
  Guest guest;
  const uint64_t top = UINT64_MAX - 0x4fff;  // a range up to (not including) the last 4 KiB
  guest.publish({entry(top, 0x4000, 0)});
  EXPECT_TRUE(guest.memory.mapped({top}, {0x4000}));
  EXPECT_FALSE(guest.memory.mapped({top}, {0x4001}));
  EXPECT_FALSE(guest.memory.mapped({top + 0x3fff}, {UINT64_MAX}));
}

TEST(GuestMemory, an_empty_range_has_no_pieces_and_copies_nothing) {
  Guest guest;
  guest.publish({entry(0x10000, 0x4000, 0)});
  EXPECT_TRUE(guest.memory.read({0}, {}));
  const auto pieces = guest.memory.pieces({0x10000}, {0});
  ASSERT_TRUE(pieces);
  EXPECT_TRUE(pieces->empty());
  EXPECT_TRUE(guest.memory.mapped({0x13fff}, {0}));
  EXPECT_FALSE(guest.memory.mapped({0x14000}, {0}));
}

TEST(GuestMemory, a_damaged_map_is_an_error_and_the_old_one_stays) {
  Guest guest;
  guest.publish({entry(0x10000, 0x4000, 0)});
  const uint64_t version = guest.memory.version();
  // A hostile guest process writes the table behind the writer's back.
  auto* header = reinterpret_cast<protocol::AddressMapHeader*>(guest.map_bytes.data());
  auto* table = reinterpret_cast<MapEntry*>(guest.map_bytes.data() + sizeof(protocol::AddressMapHeader));
  for (uint32_t t = 0; t < 2; ++t) table[t * protocol::kMaxMapEntries] = entry(0x10000, 0x4000, kArena - 0x1000);
  header->counts = {1, 1};
  header->version += 2;
  EXPECT_FALSE(guest.memory.refresh());
  EXPECT_EQ(guest.memory.version(), version);
  EXPECT_TRUE(guest.memory.mapped({0x10000}, {0x4000}));
  // Counts that no table can hold.
  header->counts = {UINT32_MAX, UINT32_MAX};
  header->version += 2;
  EXPECT_FALSE(guest.memory.refresh());
}

TEST(GuestMemory, an_arena_smaller_than_the_map_was_told_is_not_left) {
  Guest guest;
  GuestMemory small(std::span(guest.arena).first(0x2000), protocol::AddressMapReader(guest.map_bytes, {kArena}));
  guest.publish({entry(0x10000, 0x4000, 0)});
  EXPECT_FALSE(small.refresh());
  EXPECT_FALSE(small.mapped({0x10000}, {1}));
}

TEST(GuestMemory, a_new_map_is_seen_only_after_a_refresh) {
  Guest guest;
  guest.publish({entry(0x10000, 0x4000, 0)});
  ASSERT_TRUE(guest.writer.publish(std::vector<MapEntry>{entry(0x20000, 0x4000, 0)}));
  EXPECT_TRUE(guest.memory.mapped({0x10000}, {1}));
  ASSERT_TRUE(guest.memory.refresh());
  EXPECT_FALSE(guest.memory.mapped({0x10000}, {1}));
  EXPECT_TRUE(guest.memory.mapped({0x20000}, {1}));
}

}  // namespace
}  // namespace orrery::memory
