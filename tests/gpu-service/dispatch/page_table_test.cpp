#include "gpu-service/dispatch/device_page_table.hpp"

#include <random>
#include <set>

#include "tests/gpu-service/dispatch/test_guest.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::dispatch {
namespace {

constexpr uint64_t kHostPage = 4096, kArena = 64 << 20;

// The arena offset of each 4 KiB of guest memory, by brute force.
using Small = std::map<uint64_t, uint64_t>;

Small small_pages(const std::vector<protocol::MapEntry>& entries) {
  Small out;
  for (const auto& entry : entries) {
    for (uint64_t at = 0; at < entry.size; at += kHostPage) out[entry.guest_begin + at] = entry.arena_offset + at;
  }
  return out;
}

std::optional<uint64_t> whole_page(const Small& small, uint64_t address) {
  const auto first = small.find(address);
  if (first == small.end()) return std::nullopt;
  for (uint64_t at = 0; at < kGuestPage; at += kHostPage) {
    const auto here = small.find(address + at);
    if (here == small.end() || here->second != first->second + at) return std::nullopt;
  }
  return first->second;
}

class PageTables : public vulkan::DeviceTest, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Arena, PageTables, testing::Bool(),
                         [](const auto& info) { return info.param ? "imported" : "mirrored"; });

TEST_P(PageTables, show_exactly_the_whole_pages_of_every_map_in_a_row) {
  auto file = make_memory_file("arena", {kArena});
  ASSERT_TRUE(file);
  auto mapping = Mapping::of(*file, {0}, {kArena});
  ASSERT_TRUE(mapping);
  ArenaBuffers arena(*device, mapping->bytes(), GetParam(), !GetParam());
  auto table = DevicePageTable::create(*device);
  ASSERT_TRUE(table);
  std::mt19937 random(5);
  // Guest places whose level-2 tables are shared, neighbours, and far away.
  const std::vector<uint64_t> bases{0x10000, (1ull << 25) - 0x20000, 0x40'0000'0000, (1ull << 40) - 0x40000};
  Small before;
  for (int round = 0; round < 60; ++round) {
    std::vector<protocol::MapEntry> entries;
    for (const uint64_t base : bases) {
      uint64_t at = base;
      for (uint32_t i = 0; i < random() % 6; ++i) {
        const bool whole = random() % 3 != 0;
        const uint64_t unit = whole ? kGuestPage : kHostPage;
        at = align_up(at + random() % 3 * unit, unit);
        const uint64_t size = (1 + random() % 6) * unit;
        const uint64_t offset = align_down(random() % (kArena - size), unit);
        // Now and then the entry goes on where the last one ended in the arena too.
        const bool goes_on = !entries.empty() && entries.back().guest_begin + entries.back().size == at &&
                             entries.back().arena_offset + entries.back().size + size <= kArena && random() % 2 == 0;
        entries.push_back(
            TestGuest::entry(at, size, goes_on ? entries.back().arena_offset + entries.back().size : offset));
        at += size;
      }
    }
    ASSERT_TRUE(arena.update(entries));
    ASSERT_TRUE(table->update(page_runs(entries).runs, arena));
    const Small now = small_pages(entries);
    Small asked = before;
    asked.insert(now.begin(), now.end());
    for (const auto& [address, offset] : asked) {
      const uint64_t page = align_down(address, kGuestPage);
      const auto wanted = page < (1ull << 40) ? whole_page(now, page) : std::nullopt;
      const auto entry = table->entry({page});
      const uint64_t device_address = wanted ? arena.find({*wanted})->address.value : 0;
      ASSERT_EQ(entry.read, device_address) << "round " << round << " page " << std::hex << page;
      ASSERT_EQ(entry.write, device_address);
    }
    // The window is there when any page is, and says the same as the pages in it.
    const auto window = table->window();
    EXPECT_EQ(window.size != 0, table->tables() != 0);
    for (uint64_t at = window.begin; at < window.begin + window.size; at += kGuestPage) {
      ASSERT_EQ(table->entry({at}).read, at + window.delta);
      ASSERT_EQ(table->entry({at}).write, at + window.delta);
    }
    before = now;
  }
  ASSERT_TRUE(table->update({}, arena));
  EXPECT_EQ(table->window().size, 0u);
  EXPECT_EQ(table->tables(), 0u);
}

TEST_P(PageTables, pages_that_can_be_stored_to_are_chosen_again_and_again) {
  auto file = make_memory_file("arena", {kArena});
  auto mapping = Mapping::of(*file, {0}, {kArena});
  ASSERT_TRUE(mapping);
  ArenaBuffers arena(*device, mapping->bytes(), GetParam(), !GetParam());
  auto table = DevicePageTable::create(*device);
  ASSERT_TRUE(table);
  constexpr uint64_t kFirst = (1ull << 25) - 4 * kGuestPage, kPages = 16;
  const std::vector<protocol::MapEntry> entries{TestGuest::entry(kFirst, kPages * kGuestPage, 0)};
  ASSERT_TRUE(arena.update(entries));
  ASSERT_TRUE(table->update(page_runs(entries).runs, arena));
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    std::set<uint64_t> wanted;
    for (uint64_t page = 0; page < kPages; ++page) {
      if (random() % 2 == 0) wanted.insert(kFirst / kGuestPage + page);
    }
    std::vector<uint64_t> pages(wanted.begin(), wanted.end());
    pages.push_back(1);  // not shown: not storable either
    table->let_store_only(pages);
    for (uint64_t page = 0; page < kPages; ++page) {
      const auto entry = table->entry({kFirst + page * kGuestPage});
      EXPECT_NE(entry.read, 0u);
      EXPECT_EQ(entry.write, wanted.contains(kFirst / kGuestPage + page) ? entry.read : 0) << round << " " << page;
    }
    EXPECT_EQ(table->entry({kGuestPage}).write, 0u);
    EXPECT_EQ(table->window().size, 0u);
  }
}

TEST_P(PageTables, a_map_scattered_over_the_whole_address_space_can_be_shown) {
  auto file = make_memory_file("arena", {kArena});
  auto mapping = Mapping::of(*file, {0}, {kArena});
  ASSERT_TRUE(mapping);
  ArenaBuffers arena(*device, mapping->bytes(), GetParam(), !GetParam());
  auto table = DevicePageTable::create(*device);
  ASSERT_TRUE(table);
  std::vector<protocol::MapEntry> entries;
  for (uint64_t i = 0; i < 1000; ++i) entries.push_back(TestGuest::entry(i << 30, kGuestPage, (i % 4096) * kGuestPage));
  ASSERT_TRUE(arena.update(entries));
  ASSERT_TRUE(table->update(page_runs(entries).runs, arena));
  EXPECT_EQ(table->tables(), 1000u);
  EXPECT_NE(table->entry({999ull << 30}).read, 0u);
  EXPECT_EQ(table->entry({(999ull << 30) + kGuestPage}).read, 0u);
}

}  // namespace
}  // namespace orrery::dispatch
