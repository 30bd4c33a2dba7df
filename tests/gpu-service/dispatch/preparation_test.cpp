// Routes as the executor takes them, and preparation by workers while the stream goes on.
#include <condition_variable>
#include <thread>

#include "gpu-service/dispatch/traced_buffers.hpp"
#include "tests/gpu-service/dispatch/executor_fixture.hpp"

namespace orrery::dispatch {

class Preparing : public Executing {
 protected:
  void make(const ExecutorOptions& options, Translator translator = abi_kernel_translator()) {
    auto made = DispatchExecutor::create(*device, *guest.memory, options, std::move(translator));
    ASSERT_TRUE(made) << made.error().describe();
    executor = std::move(*made);
    ASSERT_TRUE(executor->acquire());
  }
  ExecutorOptions with_threads(unsigned threads) const {
    auto wanted = options();
    wanted.preparation_threads = threads;
    return wanted;
  }
  // A dispatch whose two buffers are described at `table`, which holds them from now on.
  DispatchState through_table(uint64_t table, uint64_t from, uint64_t to) {
    describe(table, from, 128);
    describe(table + 16, to, 128);
    auto state = launch(program(kTableAdd), 1);
    set_address(state, 0, table);
    state.user_data[8] = 1000;
    return state;
  }
  void describe(uint64_t at, uint64_t base, uint32_t bytes) {
    const uint32_t words[] = {static_cast<uint32_t>(base), static_cast<uint32_t>(base >> 32), bytes, 3u << 28};
    std::memcpy(guest.guest_bytes(kDataOffset + (at - kData)), words, 16);
  }
  void fill_words(uint64_t at, uint32_t first) {
    for (uint32_t i = 0; i < 32; ++i) guest.set_word(kDataOffset + (at - kData), i, first + i);
  }
  uint32_t word_at(uint64_t at, uint32_t i) { return guest.word(kDataOffset + (at - kData), i); }
  std::vector<Refusal> until_done(const DispatchState& state) {
    for (;;) {
      if (auto done = executor->try_dispatch(state)) return *done;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  static constexpr uint64_t kUnmapped = 0x50'0000'0000;
  static constexpr uint64_t kTable = kData, kFrom = kData + 0x10000, kTo = kData + 0x20000, kOther = kData + 0x30000;
};

INSTANTIATE_TEST_SUITE_P(Arena, Preparing, every_form(), form_name);

TEST_P(Preparing, a_table_that_earlier_work_writes_is_waited_for) {
  // The table names `kOther` until the first dispatch copies the second table over it.
  auto state = through_table(kTable, kFrom, kOther);
  describe(kTable + 0x1000, kFrom, 128);
  describe(kTable + 0x1010, kTo, 128);
  fill_words(kFrom, 7);
  auto copy = launch(program(kBoundAdd), 1);
  set_buffer(copy, 0, kTable + 0x1000, 32);
  set_buffer(copy, 4, kTable, 32);
  EXPECT_EQ(text_of(executor->dispatch(copy)), "");
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(executor->counters().waits_for_reads, 1u);
  EXPECT_EQ(executor->counters().bound, 2u);
  for (uint32_t i = 0; i < 32; ++i) ASSERT_EQ(word_at(kTo, i), 1007 + i);
  EXPECT_EQ(word_at(kOther, 0), 0u);
  // Asked again while such work is recorded, the answer of before proves nothing.
  EXPECT_EQ(text_of(executor->dispatch(copy)), "");
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(executor->trace_counters().misses[static_cast<size_t>(TraceMiss::written_by_earlier_work)], 1u);
  EXPECT_EQ(executor->counters().waits_for_reads, 2u);
}

TEST_P(Preparing, behind_work_that_may_write_anywhere_a_table_is_read_on_the_device) {
  const auto state = through_table(kTable, kFrom, kTo);
  auto anywhere = launch(program(kPageCopy), 1);
  set_address(anywhere, 0, kFrom);
  set_address(anywhere, 2, kOther);
  EXPECT_EQ(text_of(executor->dispatch(anywhere)), "");
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(executor->counters().waits_for_reads, 0u);
  EXPECT_EQ(executor->counters().device_addressed, 2u);
  EXPECT_EQ(executor->counters().tables_unsettled, 1u);
  (void)finished();
  // It says nothing of the program: on its own it is bound again.
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(executor->counters().bound, 1u);
}

TEST_P(Preparing, a_dispatch_that_writes_its_own_table_is_not_bound) {
  const auto state = through_table(kTable, kFrom, kTable);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  (void)finished();
  EXPECT_EQ(executor->counters().bound, 0u);
  EXPECT_EQ(executor->counters().device_addressed, 1u);
}

TEST_P(Preparing, without_device_addressing_a_refusal_names_its_routes) {
  auto wanted = options();
  wanted.device_addressing = false;
  make(wanted);
  auto state = launch(program(kPageCopy), 1);
  set_address(state, 0, kFrom);
  set_address(state, 2, kUnmapped);
  const std::string text = text_of(executor->dispatch(state));
  EXPECT_NE(text.find("trace: host run passed: a store at 0x0 through"), std::string::npos) << text;
  EXPECT_NE(text.find("; host run: "), std::string::npos) << text;
  EXPECT_EQ(text.find("device-addressed"), std::string::npos) << text;
}

// Translates programs of one word only once it may.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  uint32_t held_salt = 0;
  bool open = false;
  std::atomic<int> waiting = 0;

  Translator translator() {
    Translator inner = abi_kernel_translator();
    return {inner.read, [this, inner](const shader::Program& program, const shader::TranslateOptions& options) {
              if (program.instructions[0].words.size() > 1 && program.instructions[0].words[1] == held_salt) {
                ++waiting;
                std::unique_lock lock(mutex);
                changed.wait(lock, [&] { return open; });
              }
              return inner.translate(program, options);
            }};
  }
  void let_go() {
    {
      const std::lock_guard lock(mutex);
      open = true;
    }
    changed.notify_all();
  }
};

TEST_P(Preparing, a_dispatch_under_preparation_holds_no_other) {
  Gate gate;
  gate.held_salt = 77;
  make(with_threads(2), gate.translator());
  fill_words(kFrom, 1);
  auto slow = launch(program(kPageCopy, 77), 1), fast = launch(program(kPageCopy, 1), 1);
  set_address(slow, 0, kFrom);
  set_address(slow, 2, kTo);
  set_address(fast, 0, kFrom);
  set_address(fast, 2, kOther);
  EXPECT_FALSE(executor->try_dispatch(slow));
  EXPECT_EQ(text_of(until_done(fast)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(word_at(kOther, 0), 2u);
  EXPECT_FALSE(executor->try_dispatch(slow));
  EXPECT_EQ(word_at(kTo, 0), 0u);
  gate.let_go();
  EXPECT_EQ(text_of(until_done(slow)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(word_at(kTo, 0), 2u);
  EXPECT_EQ(gate.waiting, 1);
  EXPECT_GT(executor->counters().postponed, 0u);
}

TEST_P(Preparing, what_was_prepared_ahead_is_there_when_it_is_dispatched) {
  Gate gate;
  gate.held_salt = 78;
  gate.open = true;
  make(with_threads(1), gate.translator());
  auto state = launch(program(kPageCopy, 78), 1);
  set_address(state, 0, kFrom);
  set_address(state, 2, kTo);
  executor->prepare(state);
  executor->prepare(state);
  EXPECT_EQ(text_of(until_done(state)), "");
  EXPECT_EQ(text_of(until_done(state)), "");
  EXPECT_EQ(executor->counters().prepared_ahead, 1u);
  EXPECT_EQ(gate.waiting, 1);
  EXPECT_EQ(text_of(finished()), "");
}

TEST_P(Preparing, refusals_come_back_from_workers_too) {
  make(with_threads(1));
  EXPECT_NE(text_of(until_done(launch(program(kRefused), 1))).find("no semantics"), std::string::npos);
  EXPECT_NE(text_of(until_done(launch(program(kUnreadable), 1))).find("reserved encoding"), std::string::npos);
  EXPECT_NE(text_of(until_done(launch({kUnmapped}, 1))).find("is not mapped"), std::string::npos);
  EXPECT_EQ(executor->counters().dispatches, 0u);
}

}  // namespace orrery::dispatch
