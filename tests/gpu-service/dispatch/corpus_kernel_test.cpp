// Kernels that LLVM compiled, through the real translator and the executor, against the same arithmetic on the CPU.
#include "tests/gpu-service/dispatch/corpus_kernel.hpp"

#include <cmath>
#include <numeric>
#include <tuple>

#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "tests/gpu-service/shader/corpus/shader_corpus.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::dispatch {
namespace {

using Words = std::vector<uint32_t>;
using Floats = std::vector<float>;

// Wave width; arena imported or mirrored; the lane layout asked for.
using shader::LayoutWish;
class Corpus : public vulkan::DeviceTest, public testing::WithParamInterface<std::tuple<uint32_t, bool, LayoutWish>> {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (device != nullptr) make_executor({});
  }
  void make_executor(ExecutorOptions options) {
    options.import_arena = std::get<1>(GetParam());
    options.layout = std::get<2>(GetParam());
    auto made = DispatchExecutor::create(*device, *guest.memory, options);
    ASSERT_TRUE(made) << made.error().describe();
    executor = std::move(*made);
    runs_ = 0;
  }
  void TearDown() override {
    executor.reset();
    DeviceTest::TearDown();
  }
  void run(const std::string& name, const KernelLaunch& launch, const std::vector<KernelValue>& values) {
    const uint32_t wave = std::get<0>(GetParam());
    const auto kernel = CorpusKernel::load(shader_corpus() + "/" + name + ".w" + std::to_string(wave));
    ASSERT_TRUE(kernel) << kernel.error().describe();
    const auto size = launch.group_size[0] != 0 ? launch.group_size : kernel->group_size;
    const uint32_t waves = (size[0] * size[1] * size[2] + wave - 1) / wave;
    const LayoutWish wish = std::get<2>(GetParam());
    if (wish == LayoutWish::exchange && waves > 1) {
      GTEST_SKIP() << name << ": a group of " << waves << " waves does not exchange through workgroup memory";
    }
    const auto refusals = run_kernel(*executor, guest, *kernel, launch, values);
    ASSERT_TRUE(refusals) << refusals.error().describe();
    ASSERT_EQ(*refusals, "");
    // It ran in the layout that was asked for.
    ++runs_;
    const ExecutorCounters& counters = executor->counters();
    EXPECT_EQ(counters.whole_wave, wish == LayoutWish::whole_wave ? runs_ : 0u);
    EXPECT_EQ(counters.exchanged, wish == LayoutWish::exchange ? runs_ : 0u);
  }
  static Words random_words(size_t count, uint32_t seed = 1) {
    Words words(count);
    for (auto& word : words) word = seed = seed * 1664525 + 1013904223;
    return words;
  }
  static Floats random_floats(size_t count, uint32_t seed) {
    Floats floats;
    for (const uint32_t word : random_words(count, seed))
      floats.push_back(static_cast<float>(word >> 8) * 0x1p-20f - 8);
    return floats;
  }

  TestGuest guest{256 << 20};
  std::unique_ptr<DispatchExecutor> executor;

 private:
  uint64_t runs_ = 0;
};

std::string name_of(const testing::TestParamInfo<Corpus::ParamType>& info) {
  const auto [wave, imported, wish] = info.param;
  return "wave" + std::to_string(wave) + (imported ? "_imported" : "_mirrored") +
         (wish == LayoutWish::whole_wave ? "_whole_wave"
          : wish == LayoutWish::exchange ? "_exchange"
                                         : "");
}

INSTANTIATE_TEST_SUITE_P(Waves, Corpus,
                         testing::Combine(testing::Values(32u, 64u), testing::Bool(),
                                          testing::Values(LayoutWish::none)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Exchange, Corpus,
                         testing::Combine(testing::Values(32u, 64u), testing::Values(true),
                                          testing::Values(LayoutWish::exchange)),
                         name_of);

// Lavapipe takes minutes for the unrolled lanes of one kernel: by hand, with --gtest_also_run_disabled_tests.
INSTANTIATE_TEST_SUITE_P(DISABLED_WholeWave, Corpus,
                         testing::Combine(testing::Values(32u, 64u), testing::Values(true),
                                          testing::Values(LayoutWish::whole_wave)),
                         name_of);

// The four ways of passing arguments: argument memory, argument memory and dispatch packet, user SGPRs, buffer
// descriptors.
TEST_P(Corpus, saxpy_equals_the_cpu_however_its_arguments_are_passed) {
  constexpr uint32_t n = 1000;
  const Floats x = random_floats(n, 1), y = random_floats(n, 2);
  Floats wanted = y;
  for (uint32_t i = 0; i < n; ++i) {
    const volatile float product = 1.5f * x[i];  // rounded: the kernel does not contract
    wanted[i] = product + y[i];
  }
  const KernelLaunch launch{.groups = {(n + 63) / 64, 1, 1}};
  for (const std::string name : {"saxpy", "saxpy_packet", "saxpy_sgpr", "saxpy_bound"}) {
    auto in = bytes_of_numbers(x), out = bytes_of_numbers(y);
    if (name == "saxpy_bound") {
      run(name, launch, {&in, &out, 1.5f});
    } else if (name == "saxpy_sgpr") {
      run(name, launch, {&in, &out, 1.5f, n});
    } else {
      run(name, launch, {1.5f, &in, &out, n});
    }
    if (HasFatalFailure() || IsSkipped()) return;
    EXPECT_EQ(numbers_of<float>(out), wanted) << name;
  }
}

TEST_P(Corpus, a_divergent_loop_leaves_each_lane_its_own_result) {
  Words in(700);
  std::iota(in.begin(), in.end(), 1);
  Words wanted(in.size(), 0);
  for (size_t i = 0; i < in.size(); ++i) {
    uint64_t v = in[i];
    uint32_t count = 0;
    bool gave_up = false;
    while (v != 1) {
      if ((v & 1) != 0) {
        if (v % 3 == 0 && count > 100) break;
        v = 3 * v + 1;
      } else {
        v >>= 1;
        if (v == 7) {
          count += 3;
          continue;
        }
      }
      gave_up = ++count > 1000;
      if (gave_up) break;
    }
    if (!gave_up) wanted[i] = count;
  }
  auto from = bytes_of_numbers(in), to = bytes_of_numbers(Words(in.size(), 0));
  run("collatz", {.groups = {11, 1, 1}}, {&from, &to, static_cast<uint32_t>(in.size())});
  if (IsSkipped()) return;
  EXPECT_EQ(numbers_of<uint32_t>(to), wanted);
}

TEST_P(Corpus, a_reduction_through_workgroup_memory_is_exact) {
  const Words in = random_words(5000);
  auto from = bytes_of_numbers(in), to = bytes_of_numbers(Words{7});
  run("reduction", {.groups = {8, 1, 1}}, {&from, &to, 5000u, 8u});
  if (IsSkipped()) return;
  EXPECT_EQ(numbers_of<uint32_t>(to)[0], std::accumulate(in.begin(), in.end(), 7u));
}

TEST_P(Corpus, more_lds_than_the_device_has_lies_in_its_memory_also_for_launches_in_parts) {
  constexpr uint32_t n = 60000, block = 12800, groups = 5;
  const Words in = random_words(n, 9);
  Words wanted(n), wanted_bins(1024, 0);
  for (uint32_t g = 0; g < groups; ++g) {
    Words words(block, 0), counts(1024, 0);
    for (uint32_t i = 0; i < block && g * block + i < n; ++i) words[i] = in[g * block + i];
    for (const uint32_t word : words) ++counts[word >> 22];
    for (uint32_t i = 0; i < 1024; ++i) wanted_bins[i] += counts[i];
    for (uint32_t i = 0; i < block && g * block + i < n; ++i) {
      const uint32_t other = words[(i * 7919 + 13) % block];
      wanted[g * block + i] = other ^ counts[other >> 22];
    }
  }
  for (const uint64_t most : {uint64_t{256} << 20, uint64_t{120'000}}) {  // all groups at once; two of them
    executor.reset();
    make_executor({.most_group_memory = most});
    auto from = bytes_of_numbers(in), to = bytes_of_numbers(Words(n, 0)), bins = bytes_of_numbers(Words(1024, 0));
    run("large_local", {.groups = {groups, 1, 1}}, {&from, &to, &bins, n});
    if (IsSkipped()) return;
    EXPECT_EQ(numbers_of<uint32_t>(to), wanted) << most;
    EXPECT_EQ(numbers_of<uint32_t>(bins), wanted_bins) << most;
  }
}

TEST_P(Corpus, a_histogram_with_atomics_counts_every_byte) {
  const auto bytes = bytes_of_numbers(random_words(1250, 3));
  Words wanted(256, 0);
  for (const auto byte : bytes) ++wanted[static_cast<size_t>(byte)];
  auto from = bytes, to = bytes_of_numbers(Words(256, 0));
  run("histogram", {.groups = {8, 1, 1}}, {&from, &to, 5000u, 8u});
  if (IsSkipped()) return;
  EXPECT_EQ(numbers_of<uint32_t>(to), wanted);
}

TEST_P(Corpus, a_tiled_product_of_matrices_is_exact) {
  constexpr uint32_t n = 48;
  const Floats a = random_floats(n * n, 4), b = random_floats(n * n, 5);
  Floats wanted(n * n);
  for (uint32_t y = 0; y < n; ++y) {
    for (uint32_t x = 0; x < n; ++x) {
      float sum = 0;
      for (uint32_t k = 0; k < n; ++k) sum = std::fma(a[y * n + k], b[k * n + x], sum);
      wanted[y * n + x] = sum;
    }
  }
  auto left = bytes_of_numbers(a), right = bytes_of_numbers(b), out = bytes_of_numbers(Floats(n * n));
  run("matmul", {.groups = {3, 3, 1}}, {&left, &right, &out, n});
  if (IsSkipped()) return;
  EXPECT_EQ(numbers_of<float>(out), wanted);
}

TEST_P(Corpus, a_picture_has_the_same_iteration_counts) {
  constexpr uint32_t n = 50;
  auto out = bytes_of_numbers(Words(n * n, 0));
  run("mandelbrot", {.groups = {7, 7, 1}}, {&out, n, n, -2.2f, -1.5f, 3.0f / n, 256u});
  if (IsSkipped()) return;
  Words wanted(n * n);
  for (uint32_t y = 0; y < n; ++y) {
    for (uint32_t x = 0; x < n; ++x) {
      // Each step rounded: the build has no fused multiply-add, and neither has the kernel.
      const float cr = -2.2f + static_cast<float>(x) * (3.0f / n), ci = -1.5f + static_cast<float>(y) * (3.0f / n);
      float zr = 0, zi = 0;
      uint32_t count = 0;
      while (count < 256 && zr * zr + zi * zi < 4.0f) {
        const float t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        ++count;
      }
      wanted[y * n + x] = count;
    }
  }
  EXPECT_EQ(numbers_of<uint32_t>(out), wanted);
}

TEST_P(Corpus, a_partial_last_group_runs_only_its_threads) {
  // 900 of 1000 elements: the kernel's own check would let 1000 through.
  const Floats x(1000, 2), y(1000, 1);
  auto in = bytes_of_numbers(x), out = bytes_of_numbers(y);
  run("saxpy", {.threads = {900, 1, 1}}, {1.0f, &in, &out, 1000u});
  if (IsSkipped()) return;
  const auto result = numbers_of<float>(out);
  EXPECT_EQ(result[0], 3.0f);
  EXPECT_EQ(result[899], 3.0f);
  EXPECT_EQ(result[900], 1.0f);
}

}  // namespace
}  // namespace orrery::dispatch
