#include "tests/gpu-service/dispatch/executor_fixture.hpp"

namespace orrery::dispatch {
namespace {

class Transfers : public Executing {};
INSTANTIATE_TEST_SUITE_P(Arena, Transfers, every_form(), form_name);

TEST_P(Transfers, a_fill_covers_exactly_its_bytes) {
  for (const uint64_t begin : {0u, 1u, 4u, 7u}) {
    for (const uint64_t size : {1u, 2u, 3u, 4u, 64u, 65u, 1000u}) {
      std::memset(guest.guest_bytes(kDataOffset), 0x55, 2048);
      EXPECT_EQ(text_of(executor->fill({kData + begin}, {size}, 0x04030201)), "");
      EXPECT_EQ(text_of(finished()), "");
      for (uint64_t i = 0; i < 2048; ++i) {
        const bool inside = i >= begin && i < begin + size;
        const auto wanted = static_cast<std::byte>(inside ? (i - begin) % 4 + 1 : 0x55);
        ASSERT_EQ(*guest.guest_bytes(kDataOffset + i), wanted) << begin << " " << size << " " << i;
      }
    }
  }
  EXPECT_GT(executor->counters().fills, 0u);
  EXPECT_GT(executor->counters().host_transfers, 0u);
}

TEST_P(Transfers, a_copy_keeps_every_byte_at_any_alignment) {
  for (uint32_t i = 0; i < 1024; ++i) guest.set_word(kDataOffset, i, i * 2654435761u);
  for (const uint64_t from : {0u, 3u}) {
    for (const uint64_t to : {0x8000u, 0x8001u}) {
      EXPECT_EQ(text_of(executor->copy({kData + to}, {kData + from}, {1001})), "");
      EXPECT_EQ(text_of(finished()), "");
      EXPECT_EQ(std::memcmp(guest.guest_bytes(kDataOffset + to), guest.guest_bytes(kDataOffset + from), 1001), 0);
    }
  }
  EXPECT_EQ(executor->counters().copies, 4u);
}

TEST_P(Transfers, ranges_that_overlap_are_copied_as_if_through_a_third_place) {
  for (uint32_t i = 0; i < 64; ++i) guest.set_word(kDataOffset, i, i);
  EXPECT_EQ(text_of(executor->copy({kData + 4}, {kData}, {64 * 4})), "");
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(guest.word(kDataOffset, i + 1), i);
  EXPECT_EQ(executor->counters().host_transfers, 1u);
}

TEST_P(Transfers, pieces_from_several_places_are_paired_up) {
  guest.map({TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, 0x4000, kDataOffset + 0x1000000),
             TestGuest::entry(kData + 0x4000, 0x8000, kDataOffset),
             TestGuest::entry(kData + 0x10000, 0x8000, kDataOffset + 0x2000000),
             TestGuest::entry(kData + 0x18000, 0x4000, kDataOffset + 0x10000)});
  ASSERT_TRUE(executor->acquire());
  for (uint32_t i = 0; i < 0x1000; ++i) guest.set_word(kDataOffset + 0x1000000, i, i);
  for (uint32_t i = 0; i < 0x2000; ++i) guest.set_word(kDataOffset, i, i + 0x1000);
  EXPECT_EQ(text_of(executor->copy({kData + 0x10000}, {kData}, {0xc000})), "");
  EXPECT_EQ(text_of(finished()), "");
  for (uint32_t i = 0; i < 0x2000; ++i) ASSERT_EQ(guest.word(kDataOffset + 0x2000000, i), i);
  for (uint32_t i = 0; i < 0x1000; ++i) ASSERT_EQ(guest.word(kDataOffset + 0x10000, i), i + 0x2000);
  EXPECT_EQ(executor->counters().copies, 1u);
}

TEST_P(Transfers, fills_copies_and_dispatches_keep_their_order) {
  auto state = launch(program(kPageCopy), 1);
  set_address(state, 0, kData + 0x4000);
  set_address(state, 2, kData + 0x8000);
  EXPECT_EQ(text_of(executor->fill({kData}, {128}, 10)), "");
  EXPECT_EQ(text_of(executor->copy({kData + 0x4000}, {kData}, {128})), "");
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(executor->fill({kData + 0x4000}, {128}, 20)), "");
  EXPECT_EQ(text_of(executor->copy({kData + 0xc001}, {kData + 0x8000}, {128})), "");
  EXPECT_EQ(text_of(finished()), "");
  uint32_t copied = 0;
  std::memcpy(&copied, guest.guest_bytes(kDataOffset + 0xc001), 4);
  EXPECT_EQ(copied, 11u);
  EXPECT_EQ(guest.word(kDataOffset + 0x4000), 20u);
}

TEST_P(Transfers, ranges_outside_the_map_are_refused_whole) {
  EXPECT_NE(text_of(executor->fill({kData + 0x400000 - 4}, {8}, 1)).find("not all of it is mapped"), std::string::npos);
  EXPECT_NE(text_of(executor->copy({kData}, {0x1000}, {8})).find("copy from 0x1000"), std::string::npos);
  EXPECT_NE(text_of(executor->copy({0x1000}, {kData}, {8})).find("copy to 0x1000"), std::string::npos);
  EXPECT_NE(text_of(executor->fill({kData}, {UINT64_MAX}, 1)).find("address"), std::string::npos);
  EXPECT_NE(text_of(executor->copy({kData}, {kData}, {UINT64_MAX})).find("address"), std::string::npos);
  EXPECT_EQ(text_of(executor->fill({0}, {0}, 1)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(kDataOffset + 0x400000 - 4), 0u);
}

TEST_P(Transfers, bytes_that_the_cpu_writes_meanwhile_stay) {
  // Work that writes other bytes of the same page must not undo them.
  EXPECT_EQ(text_of(executor->fill({kData}, {64}, 7)), "");
  guest.set_word(kDataOffset, 100, 1234);
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(kDataOffset, 0), 7u);
  EXPECT_EQ(guest.word(kDataOffset, 100), 1234u);
}

}  // namespace
}  // namespace orrery::dispatch
