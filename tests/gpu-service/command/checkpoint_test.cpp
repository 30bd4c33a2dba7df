#include "bench_of_one_queue.hpp"

namespace orrery::command::test {
namespace {

std::vector<protocol::QueueCheckpoint> checkpoints() { return std::vector<protocol::QueueCheckpoint>(2); }
std::vector<protocol::MapEntry> map() { return {{kData, kDataSize, 0, 0x33, 4}}; }

TEST(Checkpoints, a_new_life_starts_with_the_banks_of_the_last_retired_submission) {
  auto saved = checkpoints();
  {
    Bench bench(map(), kDataSize, saved);
    bench.run(stream({{0xc0017600, 0x10, 1}, {0xc0016900, 0x20, 2}, {0xc0017900, 0x3fff, 3}, {0xc0002f00, 4}}), 1);
    bench.run({0xc0017600, 0x11, 5}, 1);
    bench.submit(stream({{0xc0017600, 0x10, 9}, wait_reg_mem(kData, 1)}), 1);  // never retired
    bench.settle();
  }
  Bench bench(map(), kDataSize, saved);
  bench.processor.restore(0, 0);
  bench.processor.restore(1, 3);
  const auto* banks = bench.processor.registers(1);
  EXPECT_EQ(banks->sh[0x10], 1u);
  EXPECT_EQ(banks->sh[0x11], 5u);
  EXPECT_EQ(banks->context[0x20], 2u);
  EXPECT_EQ(banks->uconfig[0x3fff], 3u);
  EXPECT_EQ(banks->instance_count, 4u);
  EXPECT_EQ(bench.processor.registers(0)->sh[0x10], 0u);
}

TEST(Checkpoints, a_submission_saved_but_not_marked_retired_runs_again_from_the_banks_before_it) {
  auto saved = checkpoints();
  {
    Bench bench(map(), kDataSize, saved);
    for (uint32_t i = 1; i <= 5; ++i) bench.run({0xc0017600, 0x10, i});
  }
  Bench marked(map(), kDataSize, saved);
  marked.processor.restore(0, 6);
  EXPECT_EQ(marked.processor.registers(0)->sh[0x10], 5u);
  Bench bench(map(), kDataSize, saved);
  bench.processor.restore(0, 5);
  EXPECT_EQ(bench.processor.registers(0)->sh[0x10], 4u);
}

TEST(Checkpoints, both_slots_hold_everything_though_only_changes_are_copied) {
  auto saved = checkpoints();
  Bench bench(map(), kDataSize, saved);
  for (uint32_t i = 0; i < 40; ++i) {
    bench.run(stream({{0xc0017600, i, i + 1}, {0xc0017900, 0x100 * i, i + 1}}));
    for (uint64_t slot = 0; slot < 2; ++slot) {
      if (saved[0].generation.load() < 2) continue;
      const uint64_t sequence = saved[0].sequence[slot];
      for (uint32_t j = 0; j < 40; ++j) {
        EXPECT_EQ(saved[0].banks[slot].sh[j], j < sequence ? j + 1 : 0);
        EXPECT_EQ(saved[0].banks[slot].uconfig[0x100 * j], j < sequence ? j + 1 : 0);
      }
    }
  }
}

TEST(Checkpoints, a_third_life_after_two_deaths_before_retirement_still_finds_the_banks_before) {
  for (const uint64_t open : {1, 4, 5}) {
    auto saved = checkpoints();
    {
      Bench first(map(), kDataSize, saved);
      for (uint32_t i = 1; i <= open; ++i) first.run({0xc0017600, 0x10, i});
    }
    // Each life saves the submission's banks and dies before it is marked retired.
    for (int life = 2; life <= 6; ++life) {
      Bench bench(map(), kDataSize, saved);
      bench.next_sequence = open;
      bench.processor.restore(0, open);
      EXPECT_EQ(bench.processor.registers(0)->sh[0x10], open - 1) << "life " << life;
      bench.run({0xc0017600, 0x10, static_cast<uint32_t>(open)});
      EXPECT_EQ(bench.listener.retirements, std::vector<uint64_t>{open});
    }
    Bench last(map(), kDataSize, saved);
    last.processor.restore(0, 0);
    EXPECT_EQ(last.processor.registers(0)->sh[0x10], open);
  }
}

}  // namespace
}  // namespace orrery::command::test
