// What one queue feels of another queue's preparation: its round trips of a dispatch and a label, alone and while the
// other queue's program is translated for two seconds (a translator that sleeps).
#include <benchmark/benchmark.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "gpu-service/command/processor.hpp"
#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "gpu-service/dispatch/program_cache.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "shared/unique_fd.hpp"
#include "tests/bench/store_program.hpp"

namespace orrery::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t kWindow = 0x2'0000'0000, kSize = 1 << 20;
constexpr uint64_t kFast = 0x10000, kSlow = 0x11000, kTable = 0x20000, kOut = 0x40000, kLabel = 0x80000;
constexpr auto kTranslation = std::chrono::seconds(2);

class Done : public command::Listener {
 public:
  void refused(const dispatch::Refusal& refusal) override { refusal_ = refusal.text; }
  void retired(uint64_t sequence) override { last = std::max(last, sequence); }
  void queue_event(uint32_t, uint32_t) override {}
  uint64_t last = 0;
  std::string refusal_;
};

// Seconds of each round trip on queue 1.
std::vector<double> trips(benchmark::State& state, bool other_prepares, size_t count) {
  auto device = vulkan::Device::open({});
  if (!device) return state.SkipWithError(device.error().describe().c_str()), std::vector<double>{};
  std::vector<uint64_t> map_words(protocol::address_map_memory() / 8 + 1);
  const auto map_bytes = std::as_writable_bytes(std::span(map_words));
  const UniqueFd file = std::move(*make_memory_file("bench arena", {kSize}));
  Mapping arena = std::move(*Mapping::of(file, {0}, {kSize}));
  const protocol::MapEntry entry{kWindow, kSize, 0, 0x33, static_cast<uint32_t>(protocol::MapKind::direct)};
  (void)protocol::AddressMapWriter(map_bytes).publish({&entry, 1});
  memory::GuestMemory memory(arena.bytes(), protocol::AddressMapReader(map_bytes, {kSize}));
  (void)memory.refresh();
  std::memcpy(arena.data() + kFast, kStoreProgram, sizeof(kStoreProgram));
  std::memcpy(arena.data() + kSlow, kStoreProgram, sizeof(kStoreProgram));
  const uint32_t other_shift = 0x34020083;  // v_lshlrev_b32 v1, 3, v0: another program
  std::memcpy(arena.data() + kSlow + 8, &other_shift, 4);
  const uint64_t out = kWindow + kOut;
  const uint32_t words[] = {static_cast<uint32_t>(out), static_cast<uint32_t>(out >> 32), 256, 3u << 28};
  std::memcpy(arena.data() + kTable, words, sizeof(words));

  dispatch::Translator translator = dispatch::shader_translator();
  const auto translate = translator.translate;
  translator.translate = [translate](const shader::Program& program, const shader::TranslateOptions& options) {
    if (program.instructions[1].words[0] == other_shift) std::this_thread::sleep_for(kTranslation);
    return translate(program, options);
  };
  dispatch::ExecutorOptions options;
  options.preparation_threads = 2;
  auto executor = dispatch::DispatchExecutor::create(**device, memory, options, std::move(translator));
  if (!executor) return state.SkipWithError(executor.error().describe().c_str()), std::vector<double>{};
  Done done;
  command::Processor processor({memory, **executor, done});
  uint64_t sequence = 0;
  const auto submit = [&](uint64_t program, uint32_t queue) {
    auto dwords = dispatch_of(kWindow + program, kWindow + kTable, 0);
    for (const uint32_t word :
         {0xc0064900u, 0x06603514u, 1u << 29, static_cast<uint32_t>(kWindow + kLabel), 2u, 1u, 0u, 0u}) {
      dwords.push_back(word);
    }
    command::Submission submission{++sequence, queue, 0, {}};
    const auto size = static_cast<uint32_t>(dwords.size());
    submission.buffers.push_back({{kWindow}, size, true, std::move(dwords)});
    processor.submit(std::move(submission));
    return sequence;
  };
  const auto until_retired = [&](uint64_t wanted) {
    while (done.last < wanted) {
      auto moved = processor.run();
      if (!moved) return false;
      if (!*moved) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return true;
  };
  if (!until_retired(submit(kFast, 1))) return state.SkipWithError("the device failed"), std::vector<double>{};
  if (other_prepares) submit(kSlow, 0);
  std::vector<double> seconds;
  const auto end = Clock::now() + kTranslation * 9 / 10;
  while (seconds.size() < count && Clock::now() < end) {
    const auto began = Clock::now();
    const uint64_t wanted = submit(kFast, 1);
    if (!until_retired(wanted)) break;
    seconds.push_back(std::chrono::duration<double>(Clock::now() - began).count());
  }
  if (other_prepares && !processor.preparing()) state.SkipWithError("the preparation ended too early");
  if (!done.refusal_.empty()) state.SkipWithError(done.refusal_.c_str());
  return seconds;
}

void round_trip(benchmark::State& state, bool other_prepares) {
  for (auto _ : state) {
    auto seconds = trips(state, other_prepares, 100000);
    if (seconds.empty()) return;
    std::ranges::sort(seconds);
    const auto at = [&](double share) {
      return 1e6 * seconds[static_cast<size_t>(share * static_cast<double>(seconds.size() - 1))];
    };
    state.counters["trips"] = static_cast<double>(seconds.size());
    state.counters["p50_us"] = at(0.50);
    state.counters["p99_us"] = at(0.99);
  }
}
BENCHMARK_CAPTURE(round_trip, alone, false)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(round_trip, while_another_queue_prepares, true)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery::bench
