// Mirrors: what reaches the device, and what comes back.
#include <atomic>
#include <thread>

#include "shared/write_watch.hpp"
#include "tests/gpu-service/dispatch/executor_fixture.hpp"

namespace orrery::dispatch {
namespace {

class Mirrored : public Executing {
 protected:
  void run(const DispatchState& state) {
    EXPECT_EQ(text_of(executor->dispatch(state)), "");
    EXPECT_EQ(text_of(finished()), "");
  }
  DispatchState page_copy(uint64_t from, uint64_t to, uint32_t groups = 1) {
    auto state = launch(code_, groups);
    set_address(state, 0, kData + from);
    set_address(state, 2, kData + to);
    return state;
  }
  DispatchState bound_add(uint64_t from, uint64_t to, uint32_t words, uint32_t value) {
    auto state = launch(bound_code_, (words + 31) / 32);
    set_buffer(state, 0, kData + from, words * 4);
    set_buffer(state, 4, kData + to, words * 4);
    state.user_data[8] = value;
    return state;
  }
  const SyncCounters& counters() const { return executor->counters().mirrors; }
  uint8_t byte(uint64_t at) { return static_cast<uint8_t>(*guest.guest_bytes(kDataOffset + at)); }

 private:
  GuestAddress code_ = program(kPageCopy), bound_code_ = program(kBoundAdd);
};
INSTANTIATE_TEST_SUITE_P(Arena, Mirrored, testing::Values(ArenaForm::mirrored, ArenaForm::copied), form_name);

TEST_P(Mirrored, cpu_and_gpu_write_alternate_bytes_of_one_page_in_one_stretch) {
  constexpr uint32_t kThreads = 2048;  // the even bytes of one host page
  auto state = launch(program(kByteStripes), kThreads / 32);
  set_address(state, 0, kData);
  std::atomic<uint32_t> round{1};
  std::atomic<bool> stop{false};
  std::jthread cpu([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const auto value = static_cast<std::byte>(round.load(std::memory_order_relaxed));
      auto* bytes = reinterpret_cast<volatile std::byte*>(guest.guest_bytes(kDataOffset));
      for (uint32_t i = 1; i < 2 * kThreads; i += 2) bytes[i] = value;
    }
  });
  for (uint32_t n = 1; n <= 8; ++n) {
    round = n;
    std::memset(guest.guest_bytes(kDataOffset) + 2 * kThreads, 0, 4);
    run(state);
    for (uint32_t thread = 0; thread < kThreads; ++thread) ASSERT_EQ(byte(2 * thread), thread % 255 + 1) << n;
    // The GPU's bytes are the title's to overwrite once the stretch is over.
    for (uint32_t i = 0; i < 2 * kThreads; i += 2) *(guest.guest_bytes(kDataOffset) + i) = std::byte{0};
  }
  stop = true;
  cpu.join();
  for (uint32_t i = 1; i < 2 * kThreads; i += 2) ASSERT_EQ(byte(i), 8u);
  EXPECT_EQ(counters().conflicts, 0u);
}

TEST_P(Mirrored, only_changed_bytes_come_back) {
  for (uint32_t i = 0; i < 64; ++i) guest.set_word(kDataOffset + 0x1000, i, i);
  EXPECT_EQ(text_of(executor->dispatch(page_copy(0x1000, 0x2000))), "");
  // The CPU writes the rest of the page meanwhile, and its source after the GPU read it or before.
  for (uint32_t i = 32; i < 1024; ++i) guest.set_word(kDataOffset + 0x2000, i, ~i);
  EXPECT_EQ(text_of(finished()), "");
  for (uint32_t i = 0; i < 32; ++i) ASSERT_EQ(guest.word(kDataOffset + 0x2000, i), i + 1);
  for (uint32_t i = 32; i < 1024; ++i) ASSERT_EQ(guest.word(kDataOffset + 0x2000, i), ~i);
  EXPECT_EQ(counters().written_back_bytes, 32u);
}

TEST_P(Mirrored, bytes_that_both_sides_wrote_are_counted_and_named) {
  const auto copy = page_copy(0x1000, 0x2000);
  run(copy);  // words 0 to 31 are 1
  for (uint32_t i = 0; i < 32; ++i) guest.set_word(kDataOffset + 0x1000, i, 6);
  ASSERT_TRUE(executor->acquire());
  // Whatever has to be uploaded is on the device before the CPU writes.
  EXPECT_EQ(text_of(executor->dispatch(page_copy(0x1000, 0x3000))), "");
  ASSERT_TRUE(executor->finish());
  EXPECT_EQ(text_of(executor->dispatch(copy)), "");
  // The first byte of word 5 is the GPU's to change to 7; the second is the CPU's alone.
  guest.set_word(kDataOffset + 0x2000, 5, 0x3302);
  guest.set_word(kDataOffset + 0x2000, 9, 0x03);
  const auto found = finished();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, "conflict");
  EXPECT_NE(found[0].text.find("2 bytes"), std::string::npos) << found[0].text;
  EXPECT_EQ(counters().conflicts, 2u);
  EXPECT_EQ(guest.word(kDataOffset + 0x2000, 5), 0x3307u);
  EXPECT_EQ(guest.word(kDataOffset + 0x2000, 9), 7u);
  EXPECT_EQ(guest.word(kDataOffset + 0x2000, 6), 7u);
}

TEST_P(Mirrored, uploads_follow_the_bytes_that_changed) {
  const auto add = bound_add(0x10000, 0x20000, 4096, 3);
  run(add);
  const uint64_t first = counters().uploaded_bytes;
  EXPECT_EQ(first, 2u * 4096 * 4) << "the two ranges that are bound, and nothing else";
  // Contents can't tell the service's own stores from the title's, so that what came back goes up once more.
  run(add);
  const uint64_t second = counters().uploaded_bytes - first;
  EXPECT_LE(second, 4096u * 4);
  guest.set_word(kDataOffset + 0x10000, 1025, 77);  // the second page of four
  ASSERT_TRUE(executor->acquire());
  run(add);
  EXPECT_EQ(counters().uploaded_bytes - first - second, second + kHostPage);
  EXPECT_EQ(guest.word(kDataOffset + 0x20000, 1025), 80u);
}

TEST_P(Mirrored, work_between_two_acquire_points_uploads_once) {
  const auto copy = page_copy(0x1000, 0x2000);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(text_of(executor->dispatch(copy)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(counters().upload_passes, 1u);
}

TEST_P(Mirrored, stores_of_the_command_processor_reach_later_work) {
  run(page_copy(0x1000, 0x2000));
  ASSERT_TRUE(guest.memory->write_u32({kData + 0x1004}, 500));
  run(page_copy(0x1000, 0x2000));
  EXPECT_EQ(guest.word(kDataOffset + 0x2000, 1), 501u);
  EXPECT_EQ(text_of(executor->fill({kData + 0x1009}, {3}, 0x01010101)), "");  // not whole words: by the CPU
  run(page_copy(0x1000, 0x2000));
  EXPECT_EQ(guest.word(kDataOffset + 0x2000, 2), 0x01010101u);
}

TEST_P(Mirrored, windows_of_the_same_memory_share_one_mirror) {
  constexpr uint64_t kAlias = 0x50'0000'0000;
  guest.map({TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, 0x8000, kDataOffset),
             TestGuest::entry(kAlias, 0x4000, kDataOffset + 0x4000)});
  ASSERT_TRUE(executor->acquire());
  for (uint32_t i = 0; i < 32; ++i) guest.set_word(kDataOffset, i, i);
  EXPECT_EQ(text_of(executor->dispatch(page_copy(0, 0x4000))), "");
  auto back = page_copy(0, 0x1000);
  set_address(back, 0, kAlias);
  run(back);
  for (uint32_t i = 0; i < 32; ++i) ASSERT_EQ(guest.word(kDataOffset + 0x1000, i), i + 2);
}

TEST_P(Mirrored, a_growing_map_keeps_what_the_device_did) {
  constexpr uint64_t kPart = 0x90000;
  for (uint64_t pages = 1; pages <= 10; ++pages) {
    guest.map({TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, pages * kPart, kDataOffset)});
    ASSERT_TRUE(executor->acquire());
    // Each round copies what the last one left into the new part.
    const uint64_t from = pages == 1 ? 0 : (pages - 1) * kPart - 0x1000, to = pages * kPart - 0x1000;
    run(page_copy(from, to));
    ASSERT_EQ(guest.word(kDataOffset + to, 31), pages);
  }
}

TEST_P(Mirrored, stacks_and_heaps_that_are_the_cpu_s_are_reached_in_place) {
  constexpr uint64_t kHeap = 0x60'0000'0000, kHeapOffset = 0x2000000;
  auto heap = TestGuest::entry(kHeap, 0x200000, kHeapOffset);
  heap.protection = 3;
  heap.kind = static_cast<uint32_t>(protocol::MapKind::heap);
  guest.map({TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, 0x8000, kDataOffset), heap});
  ASSERT_TRUE(executor->acquire());
  guest.set_word(kHeapOffset, 3, 41);
  auto copy = page_copy(0, 0x1000);
  set_address(copy, 0, kHeap);
  run(copy);
  EXPECT_EQ(guest.word(kDataOffset + 0x1000, 3), 42u);
  if (GetParam() == ArenaForm::mirrored) {
    EXPECT_LT(counters().uploaded_bytes, 0x200000u);
  }
  set_address(copy, 2, kHeap + 0x1000);
  set_address(copy, 0, kData + 0x1000);
  run(copy);
  EXPECT_EQ(guest.word(kHeapOffset + 0x1000, 3), 43u);
}

TEST_P(Mirrored, more_scattered_pages_than_one_list_holds_reach_the_device) {
  // Every second page of 16 MiB changes; a list is bounded, and so is staging.
  constexpr uint64_t kPages = 4096;
  guest.map({TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, kPages * kHostPage, kDataOffset)});
  ASSERT_TRUE(executor->acquire());
  run(page_copy(0, 0x1000));
  for (uint64_t page = 2; page < kPages; page += 2) guest.set_word(kDataOffset + page * kHostPage, 0, 0x12340000);
  ASSERT_TRUE(executor->acquire());
  const uint64_t before = counters().uploaded_bytes;
  EXPECT_EQ(text_of(executor->dispatch(page_copy((kPages - 2) * kHostPage, 0x1000))), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(kDataOffset + 0x1000, 0), 0x12340001u);
  EXPECT_GE(counters().uploaded_bytes - before, (kPages / 2 - 1) * kHostPage);
}

}  // namespace
}  // namespace orrery::dispatch
