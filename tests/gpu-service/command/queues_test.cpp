#include <cstring>

#include "bench_of_one_queue.hpp"

namespace orrery::command::test {
namespace {

TEST(Queues, submissions_of_a_queue_run_in_order) {
  Bench bench;
  bench.submit(write_data(kData, {1}));
  bench.submit(write_data(kData, {2}));
  bench.submit(write_data(kData, {3}));
  bench.settle();
  EXPECT_EQ(bench.u32(kData), 3u);
  EXPECT_EQ(bench.listener.retirements, (std::vector<uint64_t>{1, 2, 3}));
}

TEST(Queues, queues_wait_for_each_others_labels) {
  Bench bench;
  // Ping-pong: 0 waits for 1's label, 1 for 0's.
  bench.submit(
      stream({wait_reg_mem(kData, 1), release_mem(kData + 4, 2), wait_reg_mem(kData, 3), release_mem(kData + 8, 4)}),
      0);
  bench.submit(stream({release_mem(kData, 1), wait_reg_mem(kData + 4, 2), release_mem(kData, 3)}), 1);
  bench.settle();
  EXPECT_EQ(bench.u32(kData + 8), 4u);
  EXPECT_EQ(bench.listener.retirements, (std::vector<uint64_t>{2, 1}));
}

TEST(Queues, a_stuck_queue_does_not_hold_the_others) {
  Bench bench;
  bench.submit(wait_reg_mem(kData, 1), 0);
  bench.submit(write_data(kData + 4, {1}), 0);
  for (uint32_t queue = 1; queue < 64; ++queue) bench.submit(write_data(kData + queue * 8, {queue}), queue);
  bench.settle();
  for (uint32_t queue = 1; queue < 64; ++queue) EXPECT_EQ(bench.u32(kData + queue * 8), queue);
  EXPECT_EQ(bench.u32(kData + 4), 0u);
  EXPECT_EQ(bench.listener.retirements.size(), 63u);
  EXPECT_FALSE(bench.processor.idle());
  EXPECT_EQ(bench.processor.blocked().size(), 1u);
}

TEST(Queues, a_long_stream_gives_the_others_their_turn) {
  Bench bench;
  std::vector<uint32_t> fillers(100000, 0xffff1000);
  bench.submit(fillers, 0);
  bench.submit(write_data(kData, {1}), 1);
  ASSERT_TRUE(bench.processor.run());
  EXPECT_EQ(bench.listener.retirements, (std::vector<uint64_t>{2}));
}

TEST(Queues, a_queue_whose_program_is_being_prepared_keeps_its_order_and_holds_no_other) {
  Bench bench;
  const auto dispatch_of = [](uint32_t program) {
    return stream({{header(0x76, 2), 0x20c, program}, {header(0x15, 4), 1, 1, 1, 0x8001}});
  };
  bench.executor.held = {0x12300};
  bench.submit(stream({dispatch_of(0x55), dispatch_of(0x123), dispatch_of(0x66), write_data(kData, {1})}), 0);
  bench.submit(stream({dispatch_of(0x77), write_data(kData + 4, {1})}), 1);
  bench.settle();
  EXPECT_TRUE(bench.processor.preparing());
  EXPECT_FALSE(bench.processor.idle());
  EXPECT_EQ(bench.listener.retirements, (std::vector<uint64_t>{2}));
  EXPECT_EQ(bench.u32(kData), 0u);
  EXPECT_EQ(bench.u32(kData + 4), 1u);
  bench.submit(write_data(kData + 8, {1}), 1);
  bench.settle();
  EXPECT_EQ(bench.u32(kData + 8), 1u);
  bench.executor.held = {1};
  bench.settle();
  EXPECT_FALSE(bench.processor.preparing());
  EXPECT_EQ(bench.u32(kData), 1u);
  std::vector<uint64_t> programs;
  for (const auto& state : bench.executor.dispatches) programs.push_back(state.program.value);
  EXPECT_EQ(programs, (std::vector<uint64_t>{0x5500, 0x7700, 0x12300, 0x6600}));
  EXPECT_EQ(bench.refusals(), "");
}

TEST(Queues, registers_are_per_queue) {
  Bench bench;
  bench.run({0xc0017600, 0x10, 1}, 0);
  bench.run({0xc0017600, 0x10, 2}, 1);
  EXPECT_EQ(bench.processor.registers(0)->sh[0x10], 1u);
  EXPECT_EQ(bench.processor.registers(1)->sh[0x10], 2u);
}

TEST(Queues, a_queue_that_does_not_exist_is_refused_and_retired) {
  Bench bench;
  bench.run(write_data(kData, {1}), 64);
  EXPECT_EQ(bench.refusals(), "packet: queue 64 does not exist (there are 64)\n");
  EXPECT_EQ(bench.listener.retirements.size(), 1u);
}

TEST(Submissions, a_body_is_taken_apart) {
  const uint32_t words[] = {2, 0, 0x1000, 0, 2, 1, 0xaa, 0xbb, 0x2000, 1, 7, 0};
  protocol::EntryCopy entry{protocol::EntryKind::submission, 9, 3, 100, {}};
  entry.body.resize(sizeof words);
  std::memcpy(entry.body.data(), words, sizeof words);
  const auto submission = parse_submission(entry);
  ASSERT_TRUE(submission);
  EXPECT_EQ(submission->sequence, 9u);
  EXPECT_EQ(submission->queue, 3u);
  ASSERT_EQ(submission->buffers.size(), 2u);
  EXPECT_EQ(submission->buffers[0].dwords, (std::vector<uint32_t>{0xaa, 0xbb}));
  EXPECT_FALSE(submission->buffers[1].readable);
  EXPECT_EQ(submission->buffers[1].address.value, 0x100002000u);
  // Cut off anywhere it is an error, never a read past the end.
  for (size_t size = 0; size < sizeof words; ++size) {
    protocol::EntryCopy cut = entry;
    cut.body.resize(size);
    EXPECT_FALSE(parse_submission(cut)) << size;
  }
}

TEST(Submissions, sizes_that_the_body_does_not_have_are_an_error) {
  const uint32_t words[] = {0xffffffff, 0, 0x1000, 0, 0xffffffff, 1};
  protocol::EntryCopy entry{protocol::EntryKind::submission, 9, 3, 100, {}};
  entry.body.resize(sizeof words);
  std::memcpy(entry.body.data(), words, sizeof words);
  EXPECT_FALSE(parse_submission(entry));
}

}  // namespace
}  // namespace orrery::command::test
