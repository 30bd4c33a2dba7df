#include "gpu-service/command/lookahead.hpp"

#include "bench_of_one_queue.hpp"

namespace orrery::command::test {
namespace {

using Kind = ForecastStep::Kind;

struct Ahead {
  Bench bench;
  Lookahead lookahead{bench.memory.another()};
  uint64_t next = 1;

  Ahead() { EXPECT_TRUE(lookahead.memory().refresh()); }
  const Forecast& take(std::vector<uint32_t> dwords, uint32_t queue = 0) {
    Submission submission{next++, queue, 0, {}};
    const auto size = static_cast<uint32_t>(dwords.size());
    submission.buffers.push_back({{0x7000}, size, true, std::move(dwords)});
    return lookahead.take(std::move(submission));
  }
};

std::vector<uint32_t> set_sh(uint32_t first, std::vector<uint32_t> values) {
  std::vector<uint32_t> packet{header(0x76, static_cast<uint32_t>(values.size()) + 1), first};
  packet.insert(packet.end(), values.begin(), values.end());
  return packet;
}
std::vector<uint32_t> dispatch_direct() { return {header(0x15, 4), 4, 1, 1, 0x8001}; }

std::vector<std::string> told(const Forecast& forecast) {
  std::vector<std::string> lines;
  for (const ForecastStep& step : forecast.steps) {
    lines.push_back(step.kind == Kind::dispatch
                        ? fmt::format("dispatch {:#x}", forecast.dispatches[step.dispatch].program.value)
                        : fmt::format("{} {:#x} {}", step.kind == Kind::read ? "read" : "write", step.span.begin.value,
                                      step.span.size.value));
  }
  return lines;
}

TEST(Lookahead, writes_and_dispatches_are_told_in_order_and_nothing_is_done) {
  Ahead ahead;
  const auto& forecast = ahead.take(
      stream({set_sh(0x20c, {0x123}), write_data(kData, {7, 8}), dispatch_direct(), fill(kData + 0x1000, 5, 64),
              set_sh(0x20c, {0x456}), dispatch_direct(), release_mem(kData + 0x2000, 9, 2, 1)}));
  EXPECT_EQ(told(forecast), (std::vector<std::string>{fmt::format("write {:#x} 8", kData), "dispatch 0x12300",
                                                      fmt::format("write {:#x} 64", kData + 0x1000), "dispatch 0x45600",
                                                      fmt::format("write {:#x} 8", kData + 0x2000)}));
  EXPECT_EQ(forecast.unknown, "");
  EXPECT_EQ(forecast.wait, "");
  EXPECT_EQ(forecast.dispatches[0].groups[0], 4u);
  EXPECT_EQ(ahead.bench.u32(kData), 0u);
  EXPECT_TRUE(ahead.bench.listener.events.empty());
  EXPECT_TRUE(ahead.bench.executor.log.empty());
}

TEST(Lookahead, registers_go_on_from_submission_to_submission_per_queue) {
  Ahead ahead;
  ahead.take(set_sh(0x20c, {0x123}), 0);
  ahead.take(set_sh(0x20c, {0x456}), 1);
  EXPECT_EQ(ahead.take(dispatch_direct(), 0).dispatches.at(0).program.value, 0x12300u);
  EXPECT_EQ(ahead.take(dispatch_direct(), 1).dispatches.at(0).program.value, 0x45600u);
  // What really happened to the registers takes their place.
  RegisterFile registers;
  const uint32_t program = 0x789;
  registers.sh.set(0x20c, {&program, 1});
  ahead.lookahead.restart(0, registers);
  EXPECT_EQ(ahead.lookahead.forecasts().size(), 2u);
  EXPECT_EQ(ahead.take(dispatch_direct(), 0).dispatches.at(0).program.value, 0x78900u);
}

TEST(Lookahead, commands_in_memory_are_read_as_earlier_packets_leave_them) {
  Ahead ahead;
  ahead.bench.put(kData + 0x100, stream({set_sh(0x20c, {0x111}), dispatch_direct()}));
  // The queue patches the program's register value before it enters the buffer.
  const auto& patched = ahead.take(stream({write_data(kData + 0x108, {0x222}), indirect_buffer(kData + 0x100, 8)}));
  ASSERT_EQ(patched.dispatches.size(), 1u);
  EXPECT_EQ(patched.dispatches[0].program.value, 0x22200u);
  EXPECT_TRUE(patched.steps[0].known);
  EXPECT_EQ(patched.steps[1].kind, Kind::read);
  // Another queue's packets have no order with these: they are not looked through.
  EXPECT_EQ(ahead.take(indirect_buffer(kData + 0x100, 8), 1).dispatches.at(0).program.value, 0x11100u);
  // Once the submission is dropped memory counts alone.
  ahead.lookahead.drop(1);
  EXPECT_EQ(ahead.take(indirect_buffer(kData + 0x100, 8), 0).dispatches.at(0).program.value, 0x11100u);
}

TEST(Lookahead, behind_a_wait_that_only_the_cpu_ends_nothing_read_is_certain) {
  Ahead ahead;
  const auto& own = ahead.take(stream({release_mem(kData, 1), wait_reg_mem(kData, 1), write_data(kData + 8, {1})}));
  EXPECT_EQ(own.wait, "");
  const auto& other = ahead.take(stream({wait_reg_mem(kData, 1), write_data(kData + 8, {1})}), 1);
  EXPECT_EQ(other.wait, "");
  const auto& cpu = ahead.take(stream({write_data(kData + 12, {1}), wait_reg_mem(kData + 0x40, 1), dispatch_direct(),
                                       release_mem(kData + 0x50, 1)}),
                               1);
  EXPECT_NE(cpu.wait.find("label at 0x200000040"), std::string::npos);
  EXPECT_EQ(cpu.behind_cpu, 1u);
  EXPECT_EQ(cpu.steps.size(), 3u);
  // So is all behind it: the queue's next submission, and whoever waits for what it writes.
  EXPECT_EQ(ahead.take(dispatch_direct(), 1).behind_cpu, 0u);
  EXPECT_NE(ahead.take(wait_reg_mem(kData + 0x50, 1), 2).wait, "");
  // The CPU has written: a label that holds the value is no wait.
  ahead.bench.put(kData + 0x40, {1});
  EXPECT_EQ(ahead.take(wait_reg_mem(kData + 0x40, 1), 3).wait, "");
}

TEST(Lookahead, what_a_condition_decides_is_unknown) {
  Ahead ahead;
  const auto& forecast =
      ahead.take(stream({{header(0x22, 4), low(kData), high(kData), 0, 2}, write_data(kData + 8, {1})}));
  EXPECT_NE(forecast.unknown.find("0x200000000 decides"), std::string::npos);
}

TEST(Lookahead, endless_and_huge_streams_end) {
  Ahead ahead;
  ahead.bench.put(kData, indirect_buffer(kData, 4, true));
  EXPECT_TRUE(ahead.take(indirect_buffer(kData, 4)).steps.size() <= Lookahead::kMostSteps);
  std::vector<uint32_t> labels;
  for (uint32_t i = 0; i < 70000; ++i) {
    const auto packet = fill(kData + 8 * (i % 0x8000), 1, 4);
    labels.insert(labels.end(), packet.begin(), packet.end());
  }
  const auto& many = ahead.take(labels, 1);
  EXPECT_EQ(many.unknown, "it does more than can be followed");
  EXPECT_EQ(many.steps.size(), Lookahead::kMostSteps);
}

TEST(RegisterFiles, copies_share_until_one_writes) {
  RegisterFile first;
  const std::array<uint32_t, 4> values{1, 2, 3, 4};
  ASSERT_TRUE(first.uconfig.set(254, values));  // across two pieces
  RegisterFile second = first;
  EXPECT_EQ(first, second);
  ASSERT_TRUE(second.uconfig.set(255, std::span(values).first(1)));
  EXPECT_EQ(first.uconfig[255], 2u);
  EXPECT_EQ(second.uconfig[255], 1u);
  EXPECT_EQ(second.uconfig[256], 3u);
  EXPECT_FALSE(first == second);
  EXPECT_FALSE(first.sh.set(0x3fe, values));
  EXPECT_EQ(first.sh[0x3fe], 0u);
  EXPECT_FALSE(first.sh.set(~0u, values));
}

}  // namespace
}  // namespace orrery::command::test
