// Submit-to-retired round trip of an empty submission between two processes, against a bare futex and a bare spin
// between two threads of one process in the same run (what the host's scheduler allows at best).
#include <benchmark/benchmark.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "shared/futex.hpp"
#include "tests/bench/standalone_guest.hpp"

namespace orrery::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::string service_path() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "orrery-gpu").string();
}

void report(benchmark::State& state, std::vector<double>& micros) {
  std::sort(micros.begin(), micros.end());
  if (micros.empty()) return;
  auto at = [&](double share) { return micros[static_cast<size_t>(share * static_cast<double>(micros.size() - 1))]; };
  state.counters["p50_us"] = at(0.50);
  state.counters["p99_us"] = at(0.99);
  state.counters["max_us"] = micros.back();
}

template <class Trip>
void measure(benchmark::State& state, Trip trip, std::chrono::microseconds rest) {
  std::vector<double> micros;
  for (auto _ : state) {
    if (rest.count() > 0) std::this_thread::sleep_for(rest);  // both sides go to sleep
    const auto begin = Clock::now();
    trip();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    state.SetIterationTime(seconds);
    micros.push_back(seconds * 1e6);
  }
  report(state, micros);
}

void submit_to_retired_spinning(benchmark::State& state) {
  auto guest = StandaloneGuest::start(service_path());
  if (!guest) return state.SkipWithError(guest.error().describe().c_str());
  measure(
      state,
      [&] {
        const uint64_t sequence = (*guest)->submit_empty();
        while (!(*guest)->retired(sequence)) spin_pause();
        (*guest)->drain();
      },
      std::chrono::microseconds(0));
}
BENCHMARK(submit_to_retired_spinning)->UseManualTime()->Iterations(20000);

void submit_to_retired_sleeping(benchmark::State& state) {
  auto guest = StandaloneGuest::start(service_path());
  if (!guest) return state.SkipWithError(guest.error().describe().c_str());
  measure(
      state,
      [&] {
        const uint64_t sequence = (*guest)->submit_empty();
        if (auto slept = (*guest)->sleep_until_retired(sequence); !slept)
          state.SkipWithError(slept.error().describe().c_str());
      },
      std::chrono::microseconds(2000));
}
BENCHMARK(submit_to_retired_sleeping)->UseManualTime()->Iterations(1000);

// The same exchange with nothing but one word each way.
template <bool kSleeping>
void bare_word(benchmark::State& state) {
  std::atomic<uint32_t> there{0}, back{0};
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (uint32_t seen = 0; !stop;) {
      const uint32_t now = there.load(std::memory_order_acquire);
      if (now == seen) {
        if (kSleeping)
          futex_wait(there, seen, std::chrono::milliseconds(10));
        else
          spin_pause();
        continue;
      }
      seen = now;
      back.store(seen, std::memory_order_release);
      if (kSleeping) futex_wake(back);
    }
  });
  uint32_t turn = 0;
  measure(
      state,
      [&] {
        there.store(++turn, std::memory_order_release);
        if (kSleeping) futex_wake(there);
        for (uint32_t seen; (seen = back.load(std::memory_order_acquire)) != turn;) {
          if (kSleeping)
            futex_wait(back, seen, std::chrono::milliseconds(10));
          else
            spin_pause();
        }
      },
      std::chrono::microseconds(kSleeping ? 2000 : 0));
  stop = true;
  there.fetch_add(1);
  futex_wake(there);
  other.join();
}
BENCHMARK(bare_word<false>)->Name("baseline_word_spinning")->UseManualTime()->Iterations(20000);
BENCHMARK(bare_word<true>)->Name("baseline_word_sleeping")->UseManualTime()->Iterations(1000);

}  // namespace
}  // namespace orrery::bench
