// "Which ranges may open submissions still write?", from one process to the other and back, for open submissions of one
// and of seven dispatches whose store descriptor lies in a table: every ask proves the memo's answers again.
#include <benchmark/benchmark.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "tests/bench/standalone_guest.hpp"
#include "tests/bench/store_program.hpp"

namespace orrery::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::string service_path() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "orrery-gpu").string();
}

// `rest`: both sides are asleep when the question comes.
void ask(benchmark::State& state, uint32_t dispatches, std::chrono::microseconds rest) {
  auto started = StandaloneGuest::start(service_path());
  if (!started) return state.SkipWithError(started.error().describe().c_str());
  StandaloneGuest& guest = **started;
  constexpr uint64_t kProgram = 0x10000, kTable = 0x20000, kOut = 0x40000;
  std::memcpy(guest.memory().data() + kProgram, kStoreProgram, sizeof(kStoreProgram));
  std::vector<uint32_t> dwords;
  for (uint32_t n = 0; n < dispatches; ++n) {
    const uint64_t out = StandaloneGuest::kMemory + kOut + n * 0x1000, table = kTable + n * 16;
    const uint32_t words[] = {static_cast<uint32_t>(out), static_cast<uint32_t>(out >> 32), 128, 3u << 28};
    std::memcpy(guest.memory().data() + table, words, sizeof(words));
    const auto packets = dispatch_of(StandaloneGuest::kMemory + kProgram, StandaloneGuest::kMemory + table, n);
    dwords.insert(dwords.end(), packets.begin(), packets.end());
  }
  // A label that nobody writes keeps it open.
  for (const uint32_t word : {0xc0053c00u, 0x13u, 0u, 2u, 1u, ~0u, 4u}) dwords.push_back(word);
  guest.submit(std::move(dwords));
  Result<std::optional<size_t>> answer = std::optional<size_t>{};
  for (const auto until = Clock::now() + std::chrono::seconds(30); Clock::now() < until;) {
    answer = guest.queued_writes();
    if (!answer || *answer) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (!answer || !*answer || **answer != dispatches) return state.SkipWithError("the answer is not what was submitted");
  std::vector<double> micros;
  for (auto _ : state) {
    if (rest.count() > 0) std::this_thread::sleep_for(rest);
    const auto began = Clock::now();
    answer = guest.queued_writes();
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    if (!answer || !*answer) return state.SkipWithError("unbounded");
    state.SetIterationTime(seconds);
    micros.push_back(seconds * 1e6);
  }
  std::ranges::sort(micros);
  const auto at = [&](double share) {
    return micros[static_cast<size_t>(share * static_cast<double>(micros.size() - 1))];
  };
  state.counters["p50_us"] = at(0.50);
  state.counters["p99_us"] = at(0.99);
  state.counters["max_us"] = micros.back();
}

using std::chrono::microseconds;
BENCHMARK_CAPTURE(ask, one_dispatch, 1, microseconds(0))->UseManualTime()->Iterations(20000);
BENCHMARK_CAPTURE(ask, seven_dispatches, 7, microseconds(0))->UseManualTime()->Iterations(20000);
BENCHMARK_CAPTURE(ask, one_dispatch_asleep, 1, microseconds(2000))->UseManualTime()->Iterations(2000);
BENCHMARK_CAPTURE(ask, seven_dispatches_asleep, 7, microseconds(2000))->UseManualTime()->Iterations(2000);

}  // namespace
}  // namespace orrery::bench
