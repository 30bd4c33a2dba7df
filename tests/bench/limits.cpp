// What the machine allows at best: copies in host memory, page faults, copies on the device and over its bus, and an
// empty submission. The other benchmarks' figures are to be read beside these.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>

#include "gpu-service/dispatch/batch_ring.hpp"
#include "gpu-service/vulkan/buffer.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "shared/unique_fd.hpp"
#include "tests/bench/kernels/device_block.hpp"
#include "tests/bench/kernels/device_kernel.hpp"

namespace orrery::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kPage = 4096;

// Shared memory of a memory file, as the arena is; every page present when `touched`.
class Pages {
 public:
  Pages(size_t size, bool touched) : size_(size), file_(::memfd_create("bench-limits", MFD_CLOEXEC)) {
    if (!file_ || ::ftruncate(file_.get(), static_cast<off_t>(size)) != 0) std::abort();
    void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (at == MAP_FAILED) std::abort();
    bytes_ = static_cast<std::byte*>(at);
    if (touched) std::memset(bytes_, 1, size);
  }
  ~Pages() { ::munmap(bytes_, size_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  std::byte* data() const { return bytes_; }
  std::span<std::byte> span() const { return {bytes_, size_}; }

 private:
  size_t size_;
  UniqueFd file_;
  std::byte* bytes_ = nullptr;
};

void host_copy(benchmark::State& state, size_t threads) {
  const size_t size = 256u << 20;
  const Pages from(size, true), to(size, true);
  const size_t part = size / threads / kPage * kPage;
  for (auto _ : state) {
    std::vector<std::jthread> running;
    for (size_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] { std::memcpy(to.data() + i * part, from.data() + i * part, part); });
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(part * threads));
}
BENCHMARK_CAPTURE(host_copy, one_thread, 1)->UseRealTime();
BENCHMARK_CAPTURE(host_copy, all_threads, std::thread::hardware_concurrency())->UseRealTime();

void first_touch_of_a_page(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kPages = 4096;
  for (auto _ : state) {
    const Pages pages(kPages * kPage, false);
    const auto begin = Clock::now();
    for (size_t i = 0; i < kPages; ++i) pages.data()[i * kPage] = std::byte{1};
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count() / kPages);
  }
}
BENCHMARK(first_touch_of_a_page)->UseManualTime()->Iterations(40);

std::byte* protected_page = nullptr;
void unprotect(int) { ::mprotect(protected_page, kPage, PROT_READ | PROT_WRITE); }

// What the fallback of write tracking pays for a page.
void protect_fault_and_signal(benchmark::State& state) {
  const Pages page(kPage, true);
  protected_page = page.data();
  struct sigaction action{}, before{};
  action.sa_handler = unprotect;
  ::sigaction(SIGSEGV, &action, &before);
  for (auto _ : state) {
    ::mprotect(protected_page, kPage, PROT_READ);
    *reinterpret_cast<volatile char*>(protected_page) = 1;
  }
  ::sigaction(SIGSEGV, &before, nullptr);
}
BENCHMARK(protect_fault_and_signal)->UseRealTime();

struct Opened {
  std::unique_ptr<vulkan::Device> device;
  std::unique_ptr<Commands> commands;
};

// Once a process: the device that $ORRERY_BENCH_GPU names (a number, or "cpu"), or the first.
Opened* opened(benchmark::State& state) {
  static Result<Opened> made = []() -> Result<Opened> {
    vulkan::DeviceOptions options;
    options.cache_directory = "";
    if (const char* asked = std::getenv("ORRERY_BENCH_GPU"); asked != nullptr && *asked != 0) {
      options.choice.cpu = std::strcmp(asked, "cpu") == 0;
      if (!options.choice.cpu) options.choice.index = static_cast<uint32_t>(std::strtoul(asked, nullptr, 10));
    }
    Opened out;
    auto device = vulkan::Device::open(options);
    if (!device) return std::unexpected(std::move(device.error()));
    out.device = std::move(*device);
    auto commands = Commands::create(*out.device);
    if (!commands) return std::unexpected(std::move(commands.error()));
    out.commands = std::move(*commands);
    return out;
  }();
  if (!made) {
    state.SkipWithError(made.error().describe().c_str());
    return nullptr;
  }
  return &*made;
}

enum class Place { device, imported };

Result<vulkan::Buffer> buffer_at(const vulkan::Device& device, Place place, size_t size, std::optional<Pages>& pages) {
  if (place == Place::device) return vulkan::Buffer::create(device, {size}, vulkan::BufferPlace::device, "limits");
  pages.emplace(size, true);
  return vulkan::Buffer::import_host(device, pages->span(), "limits");
}

// A copy by the device between two time stamps. On the device itself a byte is read and written: twice the traffic.
void device_copy(benchmark::State& state, Place from, Place to) {
  Opened* const gpu = opened(state);
  if (gpu == nullptr) return;
  const bool cpu = gpu->device->facts().type == vulkan::DeviceType::cpu;
  const size_t size = (cpu ? 64u : from == to ? 1024u : 256u) << 20;
  std::optional<Pages> one, other;
  auto source = buffer_at(*gpu->device, from, size, one), target = buffer_at(*gpu->device, to, size, other);
  if (!source || !target) {
    return state.SkipWithError((!source ? source : target).error().describe().c_str());
  }
  for (auto _ : state) {
    const auto took = gpu->commands->time([](VkCommandBuffer) {},
                                          [&](VkCommandBuffer commands) {
                                            const VkBufferCopy copy{0, 0, size};
                                            vkCmdCopyBuffer(commands, source->handle(), target->handle(), 1, &copy);
                                            dispatch::full_barrier(commands);
                                          });
    if (!took) return state.SkipWithError(took.error().describe().c_str());
    state.SetIterationTime(*took * 1e-9);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(size));
}
BENCHMARK_CAPTURE(device_copy, on_the_device, Place::device, Place::device)->UseManualTime()->MinTime(0.1);
BENCHMARK_CAPTURE(device_copy, to_the_device, Place::imported, Place::device)->UseManualTime()->MinTime(0.1);
BENCHMARK_CAPTURE(device_copy, from_the_device, Place::device, Place::imported)->UseManualTime()->MinTime(0.1);

Result<std::vector<uint32_t>> copy_module() {
  const auto file =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "kernel-twins" / "device_copy.spv";
  std::ifstream in(file, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  if (bytes.empty()) return fail(ExitCode::internal, "{} is not there", file.string());
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

// The same by a compute program, which reaches what the copy engine does not. Counted are the bytes read and written.
void device_traffic(benchmark::State& state) {
  Opened* const gpu = opened(state);
  if (gpu == nullptr) return;
  const bool cpu = gpu->device->facts().type == vulkan::DeviceType::cpu;
  const size_t size = (cpu ? 64u : 1024u) << 20, groups = size / (256 * 16), across = std::min<size_t>(groups, 16384);
  std::optional<Pages> none;
  auto source = buffer_at(*gpu->device, Place::device, size, none),
       target = buffer_at(*gpu->device, Place::device, size, none);
  const auto module = copy_module();
  if (!source || !target || !module) {
    return state.SkipWithError((!module   ? module.error()
                                : !source ? source.error()
                                          : target.error())
                                   .describe()
                                   .c_str());
  }
  DeviceKernel kernel(*gpu->device);
  const std::array<DeviceKernel::Range, 2> buffers{{{source->handle(), 0, size}, {target->handle(), 0, size}}};
  if (auto compiled = kernel.compile(*module, 0, buffers, "device copy"); !compiled) {
    return state.SkipWithError(compiled.error().describe().c_str());
  }
  kernel.push.resize(4);
  kernel.parts = {{{}, {static_cast<uint32_t>(across), static_cast<uint32_t>(groups / across), 1}}};
  for (auto _ : state) {
    const auto took = gpu->commands->time([](VkCommandBuffer) {},
                                          [&](VkCommandBuffer commands) {
                                            kernel.record(commands);
                                            dispatch::full_barrier(commands);
                                          });
    if (!took) return state.SkipWithError(took.error().describe().c_str());
    state.SetIterationTime(*took * 1e-9);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(2 * size));
}
BENCHMARK(device_traffic)->UseManualTime()->MinTime(0.1);

void empty_submission(benchmark::State& state) {
  Opened* const gpu = opened(state);
  if (gpu == nullptr) return;
  for (auto _ : state) {
    if (auto ran = gpu->commands->run([](VkCommandBuffer) {}); !ran) {
      return state.SkipWithError(ran.error().describe().c_str());
    }
  }
}
BENCHMARK(empty_submission)->UseRealTime();

}  // namespace
}  // namespace orrery::bench
