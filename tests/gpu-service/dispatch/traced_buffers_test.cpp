#include "gpu-service/dispatch/traced_buffers.hpp"

#include "tests/gpu-service/dispatch/test_guest.hpp"

namespace orrery::dispatch {
namespace {

constexpr uint64_t kWindow = 0x200000000, kTable = 0x1000, kData = 0x10000;

// A dispatch whose store descriptor is entry 2 of a table that user data points to.
struct Asker {
  TestGuest guest;
  TracedBuffersMemo memo;
  std::vector<shader::BoundBuffer> buffers{{shader::DescriptorSource::chain(4, {32}), false, true}};
  DispatchState state;
  uint64_t reads = 0;  // by the last trace
  bool earlier_work_writes_the_table = false;

  Asker() {
    guest.map({TestGuest::entry(kWindow, 1 << 20, 0)});
    EXPECT_TRUE(guest.memory->refresh());
    state.program = {kWindow + 0x80000};
    state.user_data[4] = static_cast<uint32_t>(kWindow + kTable);
    state.user_data[5] = static_cast<uint32_t>((kWindow + kTable) >> 32);
    describe(kWindow + kData, 0x400);
  }
  void describe(uint64_t base, uint32_t bytes) {
    const uint32_t words[] = {static_cast<uint32_t>(base), static_cast<uint32_t>(base >> 32), bytes, 3u << 28};
    std::memcpy(guest.guest_bytes(kTable + 32), words, 16);
  }
  TracedBuffers ask(bool host_runs = false, ContentHash code = {1, 2}) {
    const TraceKey key = trace_key(state, code, host_runs);
    const auto may_change = [&](memory::GuestSpan) { return earlier_work_writes_the_table; };
    reads = 0;
    if (auto kept = memo.find(key, *guest.memory, may_change)) return *kept;
    memory::RecordingMemory recording(*guest.memory, [&](GuestAddress at, std::span<std::byte> out) {
      return guest.memory->read(at, out).has_value();
    });
    TracedBuffers answer = trace_buffers(buffers, state, 1 << 27, recording);
    reads = recording.reads();
    memo.keep(key, answer, recording.take_notes());
    return answer;
  }
  uint64_t misses(TraceMiss why) const { return memo.counters().misses[static_cast<size_t>(why)]; }
};

using Miss = TraceMiss;

TEST(TracedBuffers, a_dispatchs_buffers_are_kept_until_what_they_read_changes) {
  Asker asker;
  const auto first = asker.ask();
  ASSERT_TRUE(first);
  ASSERT_EQ(first->size(), 1u);
  EXPECT_EQ(first->front().span, (memory::GuestSpan{{kWindow + kData}, {0x400}}));
  EXPECT_TRUE(first->front().written);
  EXPECT_EQ(asker.reads, 1u);
  // The second ask is served without the trace's reads.
  EXPECT_EQ(asker.ask(), first);
  EXPECT_EQ(asker.reads, 0u);
  EXPECT_EQ(asker.memo.counters().hits, 1u);
  // With the table rewritten to name another buffer the spans move to it.
  asker.describe(kWindow + 2 * kData, 0x100);
  const auto moved = asker.ask();
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->front().span, (memory::GuestSpan{{kWindow + 2 * kData}, {0x100}}));
  EXPECT_EQ(asker.misses(Miss::bytes_changed), 1u);
  EXPECT_EQ(asker.ask(), moved);
}

TEST(TracedBuffers, the_dispatches_of_a_cycle_hit_though_the_first_stores_into_the_buffer) {
  Asker asker;
  ASSERT_TRUE(asker.ask());
  for (uint64_t n = 0; n < 6; ++n) {
    for (uint64_t word = 0; word < 0x100; ++word)
      asker.guest.set_word(kData, word, static_cast<uint32_t>(n * word + 1));
    asker.state.sequence = n;
    asker.state.packet_offset = static_cast<uint32_t>(100 * n);
    ASSERT_TRUE(asker.ask());
  }
  EXPECT_EQ(asker.memo.counters().hits, 6u);
  EXPECT_EQ(asker.misses(Miss::unknown), 1u);
}

TEST(TracedBuffers, an_earlier_dispatch_that_writes_traced_bytes_makes_a_later_one_miss) {
  Asker asker;
  ASSERT_TRUE(asker.ask());
  asker.earlier_work_writes_the_table = true;
  ASSERT_TRUE(asker.ask());
  EXPECT_EQ(asker.memo.counters().hits, 0u);
  EXPECT_EQ(asker.misses(Miss::written_by_earlier_work), 1u);
}

TEST(TracedBuffers, refusals_are_kept_as_answers_and_end_when_memory_appears) {
  Asker asker;
  asker.describe(kWindow + (1 << 20) - 0x100, 0x200);
  const auto refused = asker.ask();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), "buffer 0: not all of it is mapped");
  EXPECT_EQ(asker.ask(), refused);
  EXPECT_EQ(asker.memo.counters().hits, 1u);
  asker.guest.map({TestGuest::entry(kWindow, 2 << 20, 0)});
  ASSERT_TRUE(asker.guest.memory->refresh());
  EXPECT_TRUE(asker.ask());
  EXPECT_EQ(asker.misses(Miss::now_mapped), 1u);
}

TEST(TracedBuffers, a_range_that_goes_makes_the_answer_go) {
  Asker asker;
  ASSERT_TRUE(asker.ask());
  asker.guest.map({TestGuest::entry(kWindow, kData, 0)});
  ASSERT_TRUE(asker.guest.memory->refresh());
  EXPECT_FALSE(asker.ask());
  EXPECT_EQ(asker.misses(Miss::no_longer_mapped), 1u);
}

TEST(TracedBuffers, program_bytes_registers_and_allowed_host_runs_are_in_the_key) {
  Asker asker;
  ASSERT_TRUE(asker.ask());
  ASSERT_TRUE(asker.ask(true));
  ASSERT_TRUE(asker.ask(false, {1, 3}));
  asker.state.user_data[15] = 1;
  ASSERT_TRUE(asker.ask());
  asker.state.groups[0] = 7;
  ASSERT_TRUE(asker.ask());
  EXPECT_EQ(asker.memo.counters().hits, 0u);
  EXPECT_EQ(asker.misses(Miss::unknown), 5u);
  EXPECT_EQ(asker.memo.size(), 5u);
}

TEST(TracedBuffers, sixty_four_answers_are_kept_and_the_oldest_goes_first) {
  Asker asker;
  const auto ask_with = [&](uint32_t value) {
    asker.state.user_data[0] = value;
    ASSERT_TRUE(asker.ask());
  };
  for (uint32_t n = 0; n < 64; ++n) ask_with(n);
  ask_with(0);
  EXPECT_EQ(asker.memo.counters().hits, 1u);
  ask_with(64);  // the answer for 0 is the oldest
  EXPECT_EQ(asker.memo.size(), 64u);
  ask_with(1);
  EXPECT_EQ(asker.memo.counters().hits, 2u);
  ask_with(0);
  EXPECT_EQ(asker.memo.counters().hits, 2u);
}

}  // namespace
}  // namespace orrery::dispatch
