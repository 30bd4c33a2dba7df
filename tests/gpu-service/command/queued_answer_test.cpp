#include "gpu-service/command/queued_answer.hpp"

#include "bench_of_one_queue.hpp"

namespace orrery::command::test {
namespace {

// Programs by address: what they write, which table says so, or why nobody can tell.
class TellingExecutor : public RecordingExecutor {
 public:
  using RecordingExecutor::RecordingExecutor;
  dispatch::DispatchWrites writes_of(const dispatch::DispatchState& state, const memory::GuestMemory&,
                                     const dispatch::MayChange& may_change) override {
    const Program& program = programs[state.program.value];
    if (program.table && may_change(*program.table)) return {{}, "its table may change"};
    return program.writes;
  }
  struct Program {
    dispatch::DispatchWrites writes;
    std::optional<memory::GuestSpan> table;
  };
  std::map<uint64_t, Program> programs;
};

struct Asked {
  Bench bench;
  Lookahead lookahead{bench.memory.another()};
  TellingExecutor executor{bench.memory};
  uint64_t next = 1;

  Asked() { EXPECT_TRUE(lookahead.memory().refresh()); }
  uint64_t submit(std::vector<uint32_t> dwords, uint32_t queue = 0) {
    Submission submission{next, queue, 0, {}};
    const auto size = static_cast<uint32_t>(dwords.size());
    submission.buffers.push_back({{0x7000}, size, true, std::move(dwords)});
    lookahead.take(std::move(submission));
    return next++;
  }
  QueuedAnswer ask(uint64_t last = 0) { return queued_writes(lookahead, executor, bench.memory, last); }
  std::string told(uint64_t last = 0) {
    const QueuedAnswer answer = ask(last);
    if (!answer.unbounded.empty()) return fmt::format("unbounded up to {}: {}", answer.sequence, answer.unbounded);
    std::string text;
    for (const auto& s : answer.spans) {
      text += fmt::format("{:#x}+{} by {}; ", s.span.begin.value - kData, s.span.size.value, s.sequence);
    }
    return text;
  }
  std::vector<uint32_t> run(uint32_t program) {
    return stream({{header(0x76, 2), 0x20c, program}, {header(0x15, 4), 1, 1, 1, 0x8001}});
  }
};

TEST(QueuedWrites, what_packets_and_dispatches_may_write_is_told_until_they_retire) {
  Asked a;
  a.executor.programs[0x100].writes.spans = {{{kData + 0x1000}, {256}}};
  a.submit(stream({write_data(kData, {1, 2}), a.run(1)}));
  a.submit(stream({fill(kData + 0x1080, 0, 256), release_mem(kData + 0x8000, 1)}), 1);
  EXPECT_EQ(a.told(), "0x0+8 by 1; 0x1000+384 by 2; 0x8000+4 by 2; ");
  // Of earlier submissions only.
  EXPECT_EQ(a.told(1), "0x0+8 by 1; 0x1000+256 by 1; ");
  a.lookahead.drop(1);
  EXPECT_EQ(a.told(), "0x1080+256 by 2; 0x8000+4 by 2; ");
  a.lookahead.drop(2);
  EXPECT_EQ(a.told(), "");
}

TEST(QueuedWrites, a_dispatch_that_nothing_bounds_says_why_and_up_to_which_submission) {
  Asked a;
  a.executor.programs[0x100].writes.unbounded = "device-addressed";
  a.submit(a.run(1));
  a.submit(write_data(kData, {1}));
  EXPECT_EQ(a.told(), "unbounded up to 1: submission 1: program 0x100: device-addressed");
  a.submit(a.run(1), 1);
  EXPECT_EQ(a.ask().sequence, 3u);
  a.lookahead.drop(1);
  a.lookahead.drop(3);
  EXPECT_EQ(a.told(), "0x0+4 by 2; ");
}

TEST(QueuedWrites, a_table_that_earlier_queued_work_may_write_proves_nothing) {
  Asked a;
  a.executor.programs[0x100] = {{{{{kData + 0x1000}, {16}}}, ""}, memory::GuestSpan{{kData + 0x40}, {16}}};
  a.submit(a.run(1));
  EXPECT_EQ(a.told(), "0x1000+16 by 1; ");
  // The same dispatch behind one that writes its table, of another queue too.
  a.executor.programs[0x200].writes.spans = {{{kData + 0x4c}, {64}}};
  a.submit(a.run(2), 1);
  a.submit(a.run(1));
  EXPECT_EQ(a.told(), "unbounded up to 3: submission 3: program 0x100: its table may change");
}

TEST(QueuedWrites, behind_a_wait_for_the_cpu_no_table_counts) {
  Asked a;
  a.executor.programs[0x100] = {{{{{kData + 0x1000}, {16}}}, ""}, memory::GuestSpan{{kData + 0x40}, {16}}};
  a.executor.programs[0x200] = {{{{{kData + 0x2000}, {16}}}, ""}, std::nullopt};
  a.submit(stream({wait_reg_mem(kData, 1), a.run(2)}));
  EXPECT_EQ(a.told(), "0x2000+16 by 1; ");
  a.submit(a.run(1));
  EXPECT_EQ(a.told(), "unbounded up to 2: submission 2: program 0x100: its table may change");
}

TEST(QueuedWrites, commands_that_queued_work_may_write_are_not_foreseen) {
  Asked a;
  a.bench.put(kData + 0x100, write_data(kData + 0x400, {1}));
  a.submit(indirect_buffer(kData + 0x100, 5));
  EXPECT_EQ(a.told(), "0x400+4 by 1; ");
  // Its own packets in front are looked through; a fill is not, nor anything of another queue.
  a.submit(stream({write_data(kData + 0x104, {0x00100500, low(kData + 0x800)}), indirect_buffer(kData + 0x100, 5)}), 1);
  EXPECT_NE(a.told().find("unbounded up to 1: it reads commands at 0x200000100"), std::string::npos) << a.told();
  a.lookahead.drop(1);
  EXPECT_EQ(a.told(), "0x104+8 by 2; 0x800+4 by 2; ");
  a.submit(stream({fill(kData + 0x200, 0, 64), indirect_buffer(kData + 0x200, 4)}), 2);
  EXPECT_EQ(a.ask().sequence, 3u);
}

TEST(QueuedWrites, what_is_unknown_stays_so_for_the_queue_until_its_registers_are_known) {
  Asked a;
  a.executor.programs[0x100].writes.spans = {{{kData + 0x1000}, {16}}};
  a.submit({header(0x22, 4), low(kData), high(kData), 0, 0});
  a.submit(a.run(1));
  EXPECT_EQ(a.ask().sequence, 2u);
  a.lookahead.drop(1);
  EXPECT_EQ(a.ask().sequence, 2u);
  a.lookahead.restart(0, {});
  a.submit(a.run(1));
  EXPECT_EQ(a.told(), "0x1000+16 by 3; ");
}

TEST(QueuedWrites, a_million_ranges_end_in_one_answer) {
  Asked a;
  auto& spans = a.executor.programs[0x100].writes.spans;
  for (uint64_t n = 0; n < 1'000'000; ++n) spans.push_back({{kData + n * 0x100}, {16}});
  a.submit(a.run(1));
  EXPECT_EQ(a.told(), "unbounded up to 1: 1000000 ranges");
  // Sizes that run past the end of the address space are cut there.
  a.executor.programs[0x100].writes.spans = {{{UINT64_MAX - 15}, {UINT64_MAX}}, {{0}, {UINT64_MAX}}};
  EXPECT_EQ(a.ask().spans.size(), 1u);
}

}  // namespace
}  // namespace orrery::command::test
