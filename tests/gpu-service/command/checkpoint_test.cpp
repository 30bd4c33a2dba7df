// Where a queue stood when a life of the service ended is where the next one goes on.
#include <random>

#include "bench_of_one_queue.hpp"

namespace orrery::command::test {
namespace {

std::vector<uint32_t> set_sh(uint32_t first, uint32_t value) { return {0xc0017600, first, value}; }

TEST(Checkpoints, a_new_life_starts_with_the_banks_of_the_last_stretch) {
  StretchGuest guest;
  {
    Bench bench(guest);
    bench.run(stream({{0xc0017600, 0x10, 1}, {0xc0016900, 0x20, 2}, {0xc0017900, 0x3fff, 3}, {0xc0002f00, 4}}), 1);
    bench.run(set_sh(0x11, 5), 1);
    bench.submit(stream({set_sh(0x10, 9), release_mem(kData, 1), set_sh(0x10, 10), wait_reg_mem(kData + 8, 1)}), 1);
    bench.settle();
  }
  guest.life_ended();
  Bench bench(guest);
  const auto* banks = bench.processor.registers(1);
  EXPECT_EQ(banks->sh[0x10], 9u) << "what came behind the label is no part of a stretch yet";
  EXPECT_EQ(banks->sh[0x11], 5u);
  EXPECT_EQ(banks->context[0x20], 2u);
  EXPECT_EQ(banks->uconfig[0x3fff], 3u);
  EXPECT_EQ(banks->instance_count, 4u);
  EXPECT_EQ(bench.processor.registers(0)->sh[0x10], 0u);
  EXPECT_EQ(guest.done, (std::vector<uint64_t>{1, 2}));
}

// A submission that waits in its middle, and what is in front of the wait is done once.
TEST(Checkpoints, a_submission_goes_on_behind_its_last_stretch) {
  const auto submission =
      stream({set_sh(0x10, 7), write_data(kData, {1}), fill(kData + 0x100, 5, 16), release_mem(kData + 4, 2, 1, 2, 33),
              set_sh(0x11, 8), wait_reg_mem(kData + 8, 1), write_data(kData + 12, {3})});
  StretchGuest guest;
  {
    Bench bench(guest);
    bench.run(submission);
    EXPECT_EQ(bench.u32(kData), 1u);
    EXPECT_EQ(bench.u32(kData + 4), 2u);
    EXPECT_EQ(bench.u32(kData + 0x10c), 5u);
  }
  guest.life_ended();
  Bench bench(guest);
  // The title has moved on: it saw the labels.
  bench.memory.hand_stores_to({});
  for (const uint64_t at : {0, 4, 0x100}) bench.put(kData + at, {77});
  bench.memory.hand_stores_to(
      [&](ArenaOffset to, std::span<const std::byte> bytes) { return bench.stretches->bytes(to, bytes); });
  bench.run(submission);
  EXPECT_EQ(bench.processor.registers(0)->sh[0x10], 7u);
  EXPECT_EQ(bench.processor.registers(0)->sh[0x11], 8u);
  ASSERT_TRUE(bench.memory.write_u32({kData + 8}, 1));
  ASSERT_TRUE(bench.processor.commit(true));
  bench.settle();
  EXPECT_EQ(bench.u32(kData + 12), 3u);
  for (const uint64_t at : {0, 4, 0x100}) EXPECT_EQ(bench.u32(kData + at), 77u) << at;
  EXPECT_EQ(guest.events, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 33}}));
  EXPECT_EQ(guest.done, std::vector<uint64_t>{1});
}

TEST(Checkpoints, a_satisfied_wait_is_not_asked_again) {
  const auto submission = stream({wait_reg_mem(kData, 1), fill(kData + 4, 6, 4)});
  StretchGuest guest;
  {
    Bench bench(guest);
    bench.submit(submission);
    bench.settle();
    reinterpret_cast<uint32_t*>(guest.arena.data())[0] = 1;
    bench.executor.lost = true;
    while (bench.processor.run().value_or(false)) {
    }
  }
  guest.life_ended();
  reinterpret_cast<uint32_t*>(guest.arena.data())[0] = 0;  // the title took its label back
  Bench bench(guest);
  bench.run(submission);
  EXPECT_EQ(bench.u32(kData + 4), 6u);
  EXPECT_EQ(guest.done, std::vector<uint64_t>{1});
}

TEST(Checkpoints, an_indirect_buffer_goes_on_with_the_bytes_that_were_fetched) {
  constexpr uint64_t kInner = kData + 0x1000, kOuter = kData + 0x2000;
  const auto inner = stream({write_data(kData, {1}), wait_reg_mem(kData + 8, 1), write_data(kData + 12, {3})});
  const auto outer = stream({indirect_buffer(kInner, inner.size()), write_data(kData + 16, {4})});
  const auto submission = stream({indirect_buffer(kOuter, outer.size()), write_data(kData + 20, {5})});
  StretchGuest guest;
  const auto put = [&](uint64_t address, const std::vector<uint32_t>& words) {
    std::memcpy(guest.arena.data() + (address - kData), words.data(), words.size() * 4);
  };
  put(kInner, inner);
  put(kOuter, outer);
  for (int life = 1; life <= 3; ++life) {
    Bench bench(guest);
    bench.run(submission);
    EXPECT_EQ(bench.u32(kData), 1u);
    // The title saw the first store and uses the buffers for something else.
    put(kInner, std::vector<uint32_t>(inner.size(), 0xdead));
    put(kOuter, std::vector<uint32_t>(outer.size(), 0xdead));
    if (life == 3) {
      put(kData + 8, {1});
      bench.settle();
      EXPECT_EQ(bench.refusals(), "");
    }
    guest.life_ended();
  }
  for (uint32_t i = 3; i <= 5; ++i) EXPECT_EQ(reinterpret_cast<uint32_t*>(guest.arena.data())[i], i);
  EXPECT_EQ(guest.done, std::vector<uint64_t>{1});
}

TEST(Checkpoints, an_executed_stretch_is_committed_without_its_life) {
  StretchGuest guest;
  guest.commits = false;
  {
    Bench bench(guest);
    bench.submit(stream({set_sh(0x10, 1), write_data(kData, {1}), write_data(kData, {2})}));
    EXPECT_FALSE(bench.processor.run()) << "it dies while it waits for the commit";
  }
  guest.commits = true;
  guest.life_ended();
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(guest.arena.data()), 1u);
  *reinterpret_cast<uint32_t*>(guest.arena.data()) = 50;
  Bench bench(guest);
  EXPECT_EQ(bench.processor.registers(0)->sh[0x10], 1u);
  bench.run(stream({set_sh(0x10, 1), write_data(kData, {1}), write_data(kData, {2})}));
  EXPECT_EQ(bench.u32(kData), 2u);
  EXPECT_EQ(guest.ledger.stretches.first_time.load(), 3u);
  EXPECT_EQ(guest.ledger.entries.first_time.load(), 1u);
}

// Deaths at random stretches: as if there had been none.
TEST(Checkpoints, many_lives_leave_the_registers_and_the_memory_of_one) {
  std::mt19937 random(23);
  for (int round = 0; round < 20; ++round) {
    StretchGuest guest, quiet;
    std::vector<std::vector<uint32_t>> submissions;
    for (uint32_t s = 0; s < 12; ++s) {
      std::vector<uint32_t> words;
      for (uint32_t i = 0, count = 1 + static_cast<uint32_t>(random() % 6); i < count; ++i) {
        const auto value = static_cast<uint32_t>(random());
        const auto packet = random() % 3 == 0   ? set_sh(static_cast<uint32_t>(random() % 0x80), value)
                            : random() % 2 == 0 ? write_data(kData + random() % 64 * 4, {value})
                                                : fill(kData + 0x100 + random() % 64 * 4, value, 8);
        words.insert(words.end(), packet.begin(), packet.end());
      }
      submissions.push_back(words);
    }
    Bench undisturbed(quiet);
    for (const auto& words : submissions) undisturbed.run(words);
    size_t next = 0;
    while (next < submissions.size()) {
      Bench bench(guest);
      bench.next_sequence = next + 1;
      if (random() % 4 != 0) {
        bench.run(submissions[next]);
      } else {
        // It dies in some commit of the submission.
        guest.commits = false;
        bench.submit(submissions[next]);
        (void)bench.processor.run();
        guest.commits = true;
      }
      guest.life_ended();
      next = guest.done.size();
    }
    const Bench last(guest);
    EXPECT_EQ(last.processor.registers(0)->sh, undisturbed.processor.registers(0)->sh);
    EXPECT_EQ(std::memcmp(guest.arena.data(), quiet.arena.data(), 0x400), 0);
    EXPECT_EQ(guest.done, quiet.done);
  }
}

}  // namespace
}  // namespace orrery::command::test
