#include "guest-host/capture/page_scan.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <cstring>

namespace orrery::capture {
namespace {

using protocol::MapEntry;
constexpr uint64_t kArena = 16 << 20;

struct Arena {
  UniqueFd fd = std::move(*make_memory_file("scan-test", Bytes{kArena}));
  PageScan scan = std::move(*PageScan::of(fd, Bytes{kArena}));

  void write(uint64_t at, const char* text) { std::memcpy(scan.arena().data() + at, text, std::strlen(text)); }
  std::vector<uint64_t> look(std::initializer_list<MapEntry> map) {
    std::vector<uint64_t> offsets;
    const std::vector<MapEntry> entries(map);
    const auto changed = scan.look(entries);
    EXPECT_TRUE(changed);
    for (const ChangedPage& page : changed.value_or(std::vector<ChangedPage>{})) {
      offsets.push_back(page.offset);
      EXPECT_EQ(page.zero, page.bytes.empty());
      if (!page.zero) {
        EXPECT_EQ(page.hash, hash_bytes(page.bytes));
      }
    }
    return offsets;
  }
};
MapEntry mapped(uint64_t offset, uint64_t size) {
  return {.guest_begin = 0x2'0000'0000 + offset, .size = size, .arena_offset = offset, .protection = 3, .kind = 4};
}
using Offsets = std::vector<uint64_t>;

TEST(PageScan, only_pages_that_changed_are_told_once_in_their_order) {
  Arena arena;
  const MapEntry all = mapped(0, 8 << 20);
  EXPECT_EQ(arena.look({all}), Offsets{});
  arena.write(5 << 20, "later");
  arena.write(kPageBytes - 2, "over the edge");
  EXPECT_EQ(arena.look({all}), (Offsets{0, kPageBytes, 5 << 20}));
  EXPECT_EQ(arena.look({all}), Offsets{});
  arena.write(5 << 20, "other");
  EXPECT_EQ(arena.look({all}), (Offsets{5 << 20}));
}

TEST(PageScan, what_is_not_mapped_is_not_looked_at_and_an_alias_is_looked_at_once) {
  Arena arena;
  arena.write(0, "a");
  arena.write(12 << 20, "b");
  MapEntry alias = mapped(0, 1 << 20);
  alias.guest_begin += 1ull << 30;
  EXPECT_EQ(arena.look({mapped(0, 1 << 20), alias}), (Offsets{0}));
  EXPECT_EQ(arena.look({mapped(12 << 20, 16384)}), (Offsets{12 << 20}));
  const MemoryHash both = arena.scan.hash();
  arena.write(0, "c");
  EXPECT_EQ(arena.look({mapped(12 << 20, 16384)}), Offsets{});
  EXPECT_EQ(arena.scan.hash(), both) << "unmapped pages stay as they were last seen";
}

TEST(PageScan, pages_given_back_to_the_host_and_pages_of_zeros_are_zero) {
  Arena arena;
  const MapEntry all = mapped(0, 8 << 20);
  const MemoryHash nothing = arena.scan.hash();
  arena.write(0, "x");
  arena.write(1 << 20, "y");
  arena.look({all});
  ASSERT_EQ(::fallocate(arena.fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kPageBytes), 0);
  arena.scan.arena()[1 << 20] = std::byte{0};
  EXPECT_EQ(arena.look({all}), (Offsets{0, 1 << 20}));
  EXPECT_EQ(arena.scan.hash(), nothing);
}

TEST(PageScan, the_hash_depends_on_contents_and_places_and_not_on_the_way_there) {
  Arena one, other, moved;
  const MapEntry all = mapped(0, 8 << 20);
  one.write(0, "a");
  one.write(8192, "b");
  one.look({all});
  other.write(8192, "other");
  other.look({all});
  other.write(8192, "b\0\0\0\0");
  std::memset(other.scan.arena().data() + 8193, 0, 8);
  other.write(0, "a");
  other.look({all});
  EXPECT_EQ(one.scan.hash(), other.scan.hash());
  moved.write(0, "b");
  moved.write(8192, "a");
  moved.look({all});
  EXPECT_NE(one.scan.hash(), moved.scan.hash());
}

}  // namespace
}  // namespace orrery::capture
