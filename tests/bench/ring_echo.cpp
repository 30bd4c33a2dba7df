// One message there and back over a pair of our rings: to a thread of the same process, and to another process. What
// is between them is what two address spaces cost; what is above them in bench_round_trip is the command processor.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "protocol/ring.hpp"
#include "shared/futex.hpp"

namespace orrery::bench {
namespace {

using Clock = std::chrono::steady_clock;
using protocol::RingConsumer, protocol::RingProducer, protocol::WaitPolicy;
using namespace std::chrono_literals;

constexpr uint64_t kCapacity = 65536;
constexpr size_t kMessage = 64;

// Two rings in memory that a fork shares.
struct Pair {
  Pair() {
    const size_t one = protocol::ring_memory(kCapacity), both = 2 * one;
    void* const at = ::mmap(nullptr, both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) std::abort();
    there = {static_cast<std::byte*>(at), one};
    back = {static_cast<std::byte*>(at) + one, one};
    RingProducer(there).reset();
    RingProducer(back).reset();
  }
  ~Pair() { ::munmap(there.data(), there.size() + back.size()); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  std::span<std::byte> there, back;
};

// Sends back what comes, until an empty message.
void echo(const Pair& rings, WaitPolicy policy) {
  RingConsumer in(rings.there, policy);
  RingProducer out(rings.back, policy);
  for (;;) {
    const auto message = in.pop(100ms);
    if (!message) return;
    if (!*message) continue;
    if ((*message)->empty()) return;
    out.push(**message, 1000ms);
  }
}

void trips(benchmark::State& state, const Pair& rings, WaitPolicy policy) {
  RingProducer out(rings.there, policy);
  RingConsumer in(rings.back, policy);
  const std::vector<std::byte> message(kMessage, std::byte{7});
  std::vector<double> micros;
  for (auto _ : state) {
    if (policy.spins == 0) std::this_thread::sleep_for(2ms);  // the other side is asleep by then
    const auto begin = Clock::now();
    out.push(message, 1000ms);
    const auto came = in.pop(1000ms);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (!came || !*came || (*came)->size() != kMessage) return state.SkipWithError("the message did not come back");
    state.SetIterationTime(seconds);
    micros.push_back(seconds * 1e6);
  }
  out.push({}, 1000ms);
  if (micros.empty()) return;
  std::ranges::sort(micros);
  state.counters["p50_us"] = micros[micros.size() / 2];
  state.counters["p99_us"] = micros[micros.size() * 99 / 100];
}

void to_a_thread(benchmark::State& state, WaitPolicy policy) {
  const Pair rings;
  std::jthread other([&] { echo(rings, policy); });
  trips(state, rings, policy);
}

void to_a_process(benchmark::State& state, WaitPolicy policy) {
  const Pair rings;
  const pid_t child = ::fork();
  if (child < 0) return state.SkipWithError("no process can be made");
  if (child == 0) {
    echo(rings, policy);
    ::_exit(0);
  }
  trips(state, rings, policy);
  ::waitpid(child, nullptr, 0);
}

constexpr WaitPolicy kSpinning{.spins = UINT32_MAX}, kSleeping{.spins = 0};
BENCHMARK_CAPTURE(to_a_thread, spinning, kSpinning)
    ->Name("ring_in_process_spinning")
    ->UseManualTime()
    ->Iterations(20000);
BENCHMARK_CAPTURE(to_a_process, spinning, kSpinning)
    ->Name("ring_cross_process_spinning")
    ->UseManualTime()
    ->Iterations(20000);
BENCHMARK_CAPTURE(to_a_thread, sleeping, kSleeping)
    ->Name("ring_in_process_sleeping")
    ->UseManualTime()
    ->Iterations(1000);
BENCHMARK_CAPTURE(to_a_process, sleeping, kSleeping)
    ->Name("ring_cross_process_sleeping")
    ->UseManualTime()
    ->Iterations(1000);

}  // namespace
}  // namespace orrery::bench
