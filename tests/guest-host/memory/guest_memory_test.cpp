#include "guest-host/memory/guest_memory.hpp"

#include <gtest/gtest.h>

namespace orrery::memory {
namespace {

constexpr Bytes kPage{kGuestPage};

class Memory : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = GuestMemory::create({256 << 20});
    ASSERT_TRUE(made) << made.error().describe();
    memory_ = std::move(*made);
  }
  GuestAddress map(MapRequest request) {
    auto place = memory_->map(request);
    EXPECT_TRUE(place) << place.error().describe();
    return place.value_or(GuestAddress{});
  }
  ArenaOffset direct(uint64_t pages) {
    return memory_->allocate_direct({0}, {memory_->direct_size().value}, {pages * kGuestPage}, kPage).value();
  }
  uint32_t load(GuestAddress at) { return memory_->read_value<uint32_t>(at).value(); }
  void store(GuestAddress at, uint32_t value) { ASSERT_TRUE(memory_->write_value(at, value)); }

  std::unique_ptr<GuestMemory> memory_;
};

TEST(GuestMemory, an_arena_of_no_sensible_size_is_refused) {
  for (const uint64_t size : {0ull, 4096ull, (64ull << 20) + 1, 1ull << 60}) {
    auto made = GuestMemory::create({size});
    ASSERT_FALSE(made) << size;
    EXPECT_EQ(made.error().code, ExitCode::usage);
  }
}

TEST_F(Memory, the_same_physical_offset_mapped_twice_aliases) {
  const ArenaOffset offset = direct(2);
  const GuestAddress a = map({.kind = MapKind::direct, .size = {2 * kGuestPage}, .offset = offset});
  const GuestAddress b = map({.kind = MapKind::direct, .size = kPage, .offset = offset + kPage});
  store(a + kPage + Bytes{8}, 0xcafe);
  EXPECT_EQ(load(b + Bytes{8}), 0xcafeu);
}

TEST_F(Memory, everything_the_guest_sees_lies_below_two_to_the_forty) {
  for (const MapKind kind : {MapKind::image, MapKind::stack, MapKind::heap, MapKind::flexible, MapKind::other}) {
    const GuestAddress at = map({.kind = kind, .size = kPage});
    EXPECT_LT(at.value, 1ull << 40);
    EXPECT_EQ(at.value % kGuestPage, 0u);
  }
}

TEST_F(Memory, direct_memory_that_is_not_allocated_cannot_be_mapped) {
  EXPECT_FALSE(memory_->map({.kind = MapKind::direct, .size = kPage, .offset = ArenaOffset{0}}));
  const ArenaOffset offset = direct(1);
  EXPECT_FALSE(memory_->map({.kind = MapKind::direct, .size = {2 * kGuestPage}, .offset = offset}));
  EXPECT_FALSE(memory_->map({.kind = MapKind::flexible, .size = kPage, .offset = offset}));
}

TEST_F(Memory, a_fixed_map_replaces_what_is_there_and_keep_existing_refuses_instead) {
  const GuestAddress at = map({.kind = MapKind::flexible, .size = {3 * kGuestPage}});
  store(at, 1);
  store(at + kPage, 2);
  store(at + kPage + kPage, 3);
  EXPECT_FALSE(memory_->map(
      {.kind = MapKind::flexible, .size = kPage, .address = at + kPage, .fixed = true, .keep_existing = true}));
  map({.kind = MapKind::flexible, .size = kPage, .address = at + kPage, .fixed = true});
  EXPECT_EQ(load(at), 1u);
  EXPECT_EQ(load(at + kPage), 0u);
  EXPECT_EQ(load(at + kPage + kPage), 3u);
}

TEST_F(Memory, memory_given_back_reads_as_zero_when_it_is_mapped_again) {
  const GuestAddress at = map({.kind = MapKind::flexible, .size = kPage});
  const ArenaOffset offset = memory_->find(at)->offset;
  store(at, 42);
  ASSERT_TRUE(memory_->unmap(at, kPage));
  const GuestAddress again = map({.kind = MapKind::flexible, .size = kPage});
  EXPECT_EQ(memory_->find(again)->offset, offset);
  EXPECT_EQ(load(again), 0u);
}

TEST_F(Memory, releasing_direct_memory_unmaps_every_window_of_it_and_nothing_else) {
  const ArenaOffset offset = direct(4);
  const GuestAddress whole = map({.kind = MapKind::direct, .size = {4 * kGuestPage}, .offset = offset});
  const GuestAddress alias = map({.kind = MapKind::direct, .size = kPage, .offset = offset + kPage});
  ASSERT_TRUE(memory_->release_direct(offset + kPage, kPage));
  EXPECT_FALSE(memory_->find(alias));
  EXPECT_TRUE(memory_->find(whole));
  EXPECT_FALSE(memory_->find(whole + kPage));
  EXPECT_TRUE(memory_->find(whole + kPage + kPage));
  EXPECT_FALSE(memory_->release_direct(offset + kPage, kPage));
  EXPECT_FALSE(memory_->release_direct({1}, kPage));
}

TEST_F(Memory, a_reservation_takes_address_space_until_something_is_mapped_into_it) {
  auto reserved = memory_->reserve({8 * kGuestPage}, {}, false, kPage);
  ASSERT_TRUE(reserved);
  EXPECT_FALSE(memory_->covers(*reserved, {1}, 0));
  const GuestAddress other = map({.kind = MapKind::flexible, .size = {8 * kGuestPage}});
  EXPECT_TRUE(other >= *reserved + Bytes{8 * kGuestPage} || other + Bytes{8 * kGuestPage} <= *reserved);
  map({.kind = MapKind::flexible, .size = kPage, .address = *reserved + kPage, .fixed = true});
  store(*reserved + kPage, 5);
  EXPECT_TRUE(memory_->find(*reserved)->reserved);
  EXPECT_TRUE(memory_->find(*reserved + kPage + kPage)->reserved);
  EXPECT_FALSE(memory_->reserve(kPage, *reserved, true, kPage));
}

TEST_F(Memory, protecting_a_part_splits_the_window_and_a_hole_is_an_error) {
  const GuestAddress at = map({.kind = MapKind::flexible, .size = {3 * kGuestPage}});
  ASSERT_TRUE(memory_->protect(at + kPage, kPage, kCpuRead));
  EXPECT_EQ(memory_->find(at)->size, kPage);
  EXPECT_EQ(memory_->find(at + kPage)->protection, kCpuRead);
  EXPECT_FALSE(memory_->write_value(at + kPage, 1u));
  store(at + kPage + kPage, 1);
  ASSERT_TRUE(memory_->unmap(at + kPage, kPage));
  EXPECT_FALSE(memory_->protect(at, {3 * kGuestPage}, kCpuRead));
  store(at, 1);  // nothing changed
}

TEST_F(Memory, entries_are_sorted_join_neighbours_and_leave_reservations_out) {
  const ArenaOffset offset = direct(4);
  const GuestAddress base{memory_->layout().anywhere.value + (1 << 24)};
  for (uint64_t i = 0; i < 4; ++i) {
    map({.kind = MapKind::direct,
         .size = kPage,
         .protection = 0x33,
         .address = base + Bytes{i * kGuestPage},
         .fixed = true,
         .offset = offset + Bytes{i * kGuestPage}});
  }
  ASSERT_TRUE(memory_->reserve(kPage, base - kPage, true, kPage));
  map({.kind = MapKind::flexible, .size = kPage, .address = base + Bytes{8 * kGuestPage}, .fixed = true});
  const auto entries = memory_->entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].guest_begin, base.value);
  EXPECT_EQ(entries[0].size, 4 * kGuestPage);
  EXPECT_EQ(entries[0].arena_offset, offset.value);
  EXPECT_EQ(entries[0].protection, 0x33u);
  EXPECT_LT(entries[0].guest_begin, entries[1].guest_begin);
}

TEST_F(Memory, requests_that_make_no_sense_are_errors) {
  const uint64_t far = 1ull << 40;
  EXPECT_FALSE(memory_->map({.size = {0}}));
  EXPECT_FALSE(memory_->map({.size = {~0ull}}));
  EXPECT_FALSE(memory_->map({.size = kPage, .address = {1}, .fixed = true}));
  EXPECT_FALSE(memory_->map({.size = kPage, .address = {far}, .fixed = true}));
  EXPECT_FALSE(memory_->map({.size = {2 * kGuestPage}, .address = {far - kGuestPage}, .fixed = true}));
  EXPECT_FALSE(memory_->map({.size = kPage, .alignment = {3 * kGuestPage}}));
  EXPECT_FALSE(memory_->map({.size = {memory_->arena_size()}}));
  EXPECT_FALSE(memory_->unmap({far}, kPage));
  EXPECT_FALSE(memory_->unmap({kGuestPage}, {~0ull}));
  EXPECT_FALSE(memory_->protect({~0ull}, {~0ull}, 1));
  EXPECT_TRUE(memory_->entries().empty());
}

}  // namespace
}  // namespace orrery::memory
