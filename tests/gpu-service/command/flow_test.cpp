#include "bench_of_one_queue.hpp"

namespace orrery::command::test {
namespace {

constexpr uint64_t kInner = kData + 0x1000, kInnermost = kData + 0x2000;

TEST(Flow, indirect_buffers_nest_and_come_back) {
  Bench bench;
  const auto innermost = write_data(kData, {1});
  const auto inner = stream({indirect_buffer(kInnermost, innermost.size()), write_data(kData + 4, {2})});
  bench.put(kInnermost, innermost);
  bench.put(kInner, inner);
  bench.run(stream({indirect_buffer(kInner, inner.size()), write_data(kData + 8, {3})}));
  EXPECT_EQ(bench.u32(kData), 1u);
  EXPECT_EQ(bench.u32(kData + 4), 2u);
  EXPECT_EQ(bench.u32(kData + 8), 3u);
  EXPECT_EQ(bench.refusals(), "");
}

TEST(Flow, a_chained_buffer_does_not_come_back) {
  Bench bench;
  const auto inner = write_data(kData, {1});
  bench.put(kInner, inner);
  bench.run(stream({indirect_buffer(kInner, inner.size(), true), write_data(kData + 8, {3})}));
  EXPECT_EQ(bench.u32(kData), 1u);
  EXPECT_EQ(bench.u32(kData + 8), 0u);
  EXPECT_EQ(bench.listener.retirements.size(), 1u);
}

TEST(Flow, an_indirect_buffer_written_by_earlier_work_is_read_afterwards) {
  Bench bench;
  bench.run(stream({fill(kInner, 0xffff1000, 64), indirect_buffer(kInner, 16)}));
  EXPECT_EQ(bench.refusals(), "");
}

TEST(Flow, a_buffer_that_calls_itself_is_refused_by_name_and_ends) {
  Bench bench;
  const auto inner = indirect_buffer(kInner, 4);
  bench.put(kInner, inner);
  bench.run(stream({inner, write_data(kData, {3})}));
  EXPECT_EQ(bench.listener.refusals.size(), 1u);
  EXPECT_NE(bench.refusals().find("of the indirect buffer at 0x200001000: INDIRECT_BUFFER nests deeper than 16"),
            std::string::npos)
      << bench.refusals();
  EXPECT_EQ(bench.u32(kData), 3u);
}

TEST(Flow, a_chain_without_end_is_given_up_by_name) {
  Bench bench;
  bench.put(kInner, indirect_buffer(kInner, 0x10000, true));
  bench.run(indirect_buffer(kInner, 0x10000, true));
  EXPECT_NE(bench.refusals().find("was given up (does it call itself?)"), std::string::npos) << bench.refusals();
  EXPECT_EQ(bench.listener.retirements.size(), 1u);
  EXPECT_TRUE(bench.processor.idle());
}

TEST(Flow, a_tree_of_buffers_that_call_themselves_is_given_up_by_name) {
  Bench bench;
  std::vector<uint32_t> inner;
  for (int i = 0; i < 3000; ++i) {
    const auto call = indirect_buffer(kInner, 12000);
    inner.insert(inner.end(), call.begin(), call.end());
  }
  bench.put(kInner, inner);
  bench.run(indirect_buffer(kInner, 12000));
  EXPECT_NE(bench.refusals().find("was given up"), std::string::npos);
  EXPECT_TRUE(bench.processor.idle());
}

TEST(Flow, an_unmapped_indirect_buffer_is_refused_and_the_stream_goes_on) {
  Bench bench;
  bench.run(stream({indirect_buffer(0x1000, 8), write_data(kData, {3})}));
  EXPECT_NE(bench.refusals().find("INDIRECT_BUFFER names 8 dwords at 0x1000, which is not mapped"), std::string::npos);
  EXPECT_EQ(bench.u32(kData), 3u);
}

TEST(Flow, a_damaged_indirect_buffer_ends_alone) {
  Bench bench;
  bench.put(kInner, {0x12345678, 1, 2});
  bench.run(stream({indirect_buffer(kInner, 3), write_data(kData, {3})}));
  EXPECT_EQ(bench.listener.refusals.size(), 1u);
  EXPECT_EQ(bench.u32(kData), 3u);
}

TEST(Flow, a_top_level_buffer_outside_the_map_is_refused_and_the_next_one_runs) {
  Bench bench;
  Submission submission{1, 0, 0, {}};
  submission.buffers.push_back({{0x123000}, 16, false, {}});
  submission.buffers.push_back({{kData}, 5, true, write_data(kData, {3})});
  bench.processor.submit(std::move(submission));
  bench.settle();
  EXPECT_EQ(bench.refusals(), "address: queue 0: a command buffer of 16 dwords at 0x123000 is not mapped\n");
  EXPECT_EQ(bench.u32(kData), 3u);
}

TEST(Flow, cond_exec_skips_when_its_dword_is_zero) {
  Bench bench;
  bench.put(kData + 0x100, {0, 1});
  bench.run(stream({{0xc0032200, low(kData + 0x100), high(kData), 0, 5},
                    write_data(kData, {1}),
                    {0xc0032200, low(kData + 0x104), high(kData), 0, 5},
                    write_data(kData + 4, {2})}));
  EXPECT_EQ(bench.u32(kData), 0u);
  EXPECT_EQ(bench.u32(kData + 4), 2u);
  bench.run(stream({{0xc0032200, low(kData + 0x100), high(kData), 0, 99}, write_data(kData, {1})}));
  EXPECT_NE(bench.refusals().find("skips 99 dwords past the end"), std::string::npos);
}

}  // namespace
}  // namespace orrery::command::test
