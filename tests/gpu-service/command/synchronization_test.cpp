#include "bench_of_one_queue.hpp"

namespace orrery::command::test {
namespace {

TEST(Labels, release_mem_writes_32_and_64_bits_after_what_is_before) {
  Bench bench;
  bench.put(kData, {0, 0xffffffff});
  bench.run(stream({fill(kData + 0x100, 1, 4), release_mem(kData, 0x1122334455667788, 1),
                    release_mem(kData + 8, 0x1122334455667788, 2)}));
  EXPECT_EQ(bench.u64(kData), 0xffffffff55667788u);
  EXPECT_EQ(bench.u64(kData + 8), 0x1122334455667788u);
  EXPECT_EQ(bench.executor.log,
            (std::vector<std::string>{"acquire", "fill 0x200000100 0x4 0x1", "finish"}));  // once is enough
}

TEST(Labels, the_gpu_clock_follows_the_logical_clock_at_100_mhz) {
  Bench bench;
  bench.submit(release_mem(kData, 0, 3), 0, 16'666'670);
  bench.settle();
  EXPECT_EQ(bench.u64(kData), 1'666'667u);
}

TEST(Labels, an_interrupt_is_an_event_with_its_context) {
  Bench bench;
  bench.run(stream({release_mem(kData, 1, 0, 2, 0x1234), release_mem(kData, 1, 1, 0, 0x5678)}), 3);
  EXPECT_EQ(bench.listener.events, (std::vector<std::pair<uint32_t, uint32_t>>{{3, 0x1234}}));
}

TEST(Labels, an_unmapped_label_is_refused_and_its_interrupt_still_comes) {
  Bench bench;
  bench.run(release_mem(0x1000, 1, 1, 2, 7));
  EXPECT_NE(bench.refusals().find("RELEASE_MEM writes 4 bytes at 0x1000, which is not mapped"), std::string::npos);
  EXPECT_EQ(bench.listener.events.size(), 1u);
}

TEST(Labels, event_write_eop_writes_its_value) {
  Bench bench;
  bench.run({0xc0044700, 0x514, low(kData), high(kData) | 1u << 29, 77, 88});
  EXPECT_EQ(bench.u64(kData), 77u);
  bench.run({0xc0044700, 0x514, low(kData), high(kData) | 2u << 29, 77, 88});
  EXPECT_EQ(bench.u64(kData), 88ull << 32 | 77);
}

TEST(Waits, each_comparison_decides_as_its_number_says) {
  // value 5; {function, reference, passes}
  const struct {
    uint32_t function, reference;
    bool passes;
  } cases[] = {{0, 9, true}, {1, 6, true},  {1, 5, false}, {2, 5, true},  {2, 4, false}, {3, 5, true}, {3, 4, false},
               {4, 4, true}, {4, 5, false}, {5, 5, true},  {5, 6, false}, {6, 4, true},  {6, 5, false}};
  for (const auto& c : cases) {
    Bench bench;
    bench.put(kData, {0xf0000005, 0xf0000000});
    bench.run(wait_reg_mem(kData, c.reference, c.function, 0x0fffffff));
    EXPECT_EQ(bench.listener.retirements.size(), c.passes ? 1u : 0u) << c.function << " " << c.reference;
    bench.run({0xc0079300, 0x10 | c.function, low(kData), high(kData), c.reference, 0, 0x0fffffff, 0x0fffffff, 4}, 1);
    EXPECT_EQ(bench.listener.retirements.size(), c.passes ? 2u : 0u) << c.function << " " << c.reference;
  }
}

TEST(Waits, a_blocked_wait_finishes_what_is_before_and_acquires_when_it_is_satisfied) {
  Bench bench;
  bench.run(stream({fill(kData + 0x100, 3, 4), wait_reg_mem(kData, 1), write_data(kData + 8, {9})}));
  EXPECT_EQ(bench.u32(kData + 0x100), 3u);
  EXPECT_EQ(bench.u32(kData + 8), 0u);
  EXPECT_TRUE(bench.listener.retirements.empty());
  bench.put(kData, {1});  // the CPU
  bench.settle();
  EXPECT_EQ(bench.u32(kData + 8), 9u);
  EXPECT_EQ(bench.executor.log, (std::vector<std::string>{"acquire", "fill 0x200000100 0x4 0x3", "finish", "acquire"}));
}

TEST(Waits, a_blocked_wait_is_named_with_what_it_expects_and_sees) {
  Bench bench;
  bench.put(kData, {0x22});
  bench.run(stream({{0xffff1000}, wait_reg_mem(kData, 0x11)}), 2);
  const auto blocked = bench.processor.blocked();
  ASSERT_EQ(blocked.size(), 1u);
  EXPECT_EQ(blocked[0].queue, 2u);
  EXPECT_EQ(blocked[0].sequence, 1u);
  EXPECT_EQ(blocked[0].text,
            "queue 2, dword 1 waits for the 4-byte label at 0x200000000: (value & 0xffffffff) == 0x11; it holds 0x22");
}

TEST(Waits, waits_that_nobody_could_satisfy_are_refused_and_the_stream_goes_on) {
  Bench bench;
  bench.run(stream({wait_reg_mem(0x1000, 1),
                    {0xc0053c00, 0x03, 0x100, 0, 1, ~0u, 4},                 // register
                    {0xc0053c00, 0x53, low(kData), high(kData), 1, ~0u, 4},  // with a register write
                    wait_reg_mem(kData, 1, 7),
                    write_data(kData, {9})}));
  EXPECT_EQ(bench.listener.refusals.size(), 4u) << bench.refusals();
  EXPECT_NE(bench.refusals().find("waits for a register"), std::string::npos);
  EXPECT_EQ(bench.u32(kData), 9u);
}

TEST(Waits, the_measured_wait_of_the_console_is_understood) {
  Bench bench;
  bench.put(kData, {0xbeefcafe});
  bench.run(stream({{0xc0027904, 0x342, 0xc8010000, low(kData)},
                    {0xc0053c00, 0x13, low(kData), high(kData), 0xbeefcafe, 0xffffffff, 4},
                    {0xc0017904, 0x342, 0xc8000000}}));
  EXPECT_EQ(bench.refusals(), "");
  EXPECT_EQ(bench.listener.retirements.size(), 1u);
}

TEST(Waits, a_lost_device_is_an_error_of_the_run) {
  Bench bench;
  bench.executor.lost = true;
  bench.submit(stream({fill(kData, 3, 4)}));
  const auto moved = bench.processor.run();
  ASSERT_FALSE(moved);
  EXPECT_NE(moved.error().describe().find("device lost"), std::string::npos);
  EXPECT_TRUE(bench.listener.retirements.empty());
}

TEST(Waits, a_label_that_was_unmapped_satisfies_nothing_until_it_is_mapped_again) {
  for (const bool wide : {false, true}) {
    Bench bench;
    bench.put(kData, {1, 0});
    if (wide) {
      bench.run({0xc0079300, 0x13, low(kData), high(kData), 0, 0, ~0u, ~0u, 4});
    } else {
      bench.run(wait_reg_mem(kData, 0));
    }
    protocol::AddressMapWriter writer(std::as_writable_bytes(std::span(bench.map_memory)));
    const protocol::MapEntry other{kData + 0x10000, 0x10000, 0, 0x33, 4};
    ASSERT_TRUE(writer.publish({&other, 1}));
    bench.settle();
    EXPECT_TRUE(bench.listener.retirements.empty());
    const auto blocked = bench.processor.blocked();
    ASSERT_EQ(blocked.size(), 1u);
    EXPECT_TRUE(blocked[0].text.ends_with("== 0x0; it is not mapped any more")) << blocked[0].text;
    // Elsewhere in the arena, where the label's bytes are zero.
    const protocol::MapEntry again{kData, 0x10000, 0x20000, 0x33, 4};
    ASSERT_TRUE(writer.publish({&again, 1}));
    bench.settle();
    EXPECT_EQ(bench.listener.retirements.size(), 1u);
  }
}

}  // namespace
}  // namespace orrery::command::test
