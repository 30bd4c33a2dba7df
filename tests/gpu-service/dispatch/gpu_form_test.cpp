// Guest accesses in the form that GPUs get (the page table's window, natural accesses by a branch), on the device at
// hand: modules for a host that is no lockstep CPU are valid there too.
#include <cstring>

#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "gpu-service/dispatch/program_cache.hpp"
#include "tests/gpu-service/dispatch/corpus_kernel.hpp"
#include "tests/gpu-service/shader/corpus/shader_corpus.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::dispatch {
namespace {

// The parameter is the wave's width.
class GpuForm : public vulkan::DeviceTest, public testing::WithParamInterface<uint32_t> {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (device == nullptr) return;
    Translator translator = shader_translator();
    translator.translate = [](const shader::Program& program, shader::TranslateOptions options) {
      options.host.lockstep_subgroups = false;
      return shader::translate(program, options);
    };
    auto made = DispatchExecutor::create(*device, *guest.memory, {}, std::move(translator));
    ASSERT_TRUE(made) << made.error().describe();
    executor = std::move(*made);
  }
  void TearDown() override {
    executor.reset();
    DeviceTest::TearDown();
  }
  std::string run(const std::string& name, const KernelLaunch& launch, const std::vector<KernelValue>& values) {
    const auto kernel = CorpusKernel::load(shader_corpus() + "/" + name + ".w" + std::to_string(GetParam()));
    if (!kernel) return kernel.error().describe();
    const auto refusals = run_kernel(*executor, guest, *kernel, launch, values);
    return refusals ? *refusals : refusals.error().describe();
  }
  static std::vector<std::byte> random_bytes(size_t count) {
    std::vector<std::byte> bytes(count);
    uint32_t state = 1;
    for (auto& byte : bytes) byte = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
    return bytes;
  }

  TestGuest guest{256 << 20};
  std::unique_ptr<DispatchExecutor> executor;
};
INSTANTIATE_TEST_SUITE_P(Waves, GpuForm, testing::Values(32u, 64u),
                         [](const auto& info) { return "wave" + std::to_string(info.param); });

template <class T>
T read(const std::vector<std::byte>& from, size_t at) {
  T value;
  std::memcpy(&value, from.data() + at, sizeof(value));
  return value;
}
template <class T>
void write(std::vector<std::byte>& to, size_t at, T value) {
  std::memcpy(to.data() + at, &value, sizeof(value));
}

TEST_P(GpuForm, accesses_of_every_size_at_every_alignment_and_across_pages) {
  constexpr uint32_t n = 3000;  // several pages
  auto in = random_bytes(n * 37), out = random_bytes(n * 35 + 8), wanted = out;
  for (uint32_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < 4; ++k) write(wanted, 35 * i + 1 + 4 * k, read<uint32_t>(in, 37 * i + 4 * k) + i);
    for (size_t k = 0; k < 2; ++k) write(wanted, 35 * i + 17 + 4 * k, read<uint32_t>(in, 37 * i + 17 + 4 * k) ^ i);
    write(wanted, 35 * i + 25, read<uint32_t>(in, 37 * i + 26) * 3);
    write(wanted, 35 * i + 30, static_cast<uint16_t>(read<uint16_t>(in, 37 * i + 31) + i));
  }
  EXPECT_EQ(run("unaligned", {.groups = {(n + 63) / 64, 1, 1}}, {&in, &out, n}), "");
  EXPECT_TRUE(out == wanted);
}

TEST_P(GpuForm, natural_accesses_of_four_dwords) {
  constexpr uint32_t n = 256;
  std::vector<float> position(n * 4), velocity(n * 4);
  for (size_t i = 0; i < position.size(); ++i) {
    position[i] = static_cast<float>(i % 97) - 40;
    velocity[i] = static_cast<float>(i % 13);
    if (i % 4 == 3) position[i] = 0;  // bodies without mass: each goes on as it was
  }
  auto wanted = position;
  for (size_t i = 0; i < position.size(); ++i)
    if (i % 4 != 3) wanted[i] += velocity[i] * 0.5f;
  auto from = bytes_of_numbers(position), speed = bytes_of_numbers(velocity),
       to = bytes_of_numbers(std::vector<float>(n * 4));
  EXPECT_EQ(run("nbody", {.groups = {n / 128, 1, 1}}, {&from, &speed, &to, n, 0.5f, 0.05f}), "");
  EXPECT_EQ(numbers_of<float>(to), wanted);
}

TEST_P(GpuForm, what_lies_outside_the_map_is_dropped_and_told) {
  constexpr uint32_t n = 256, more = 1 << 16;
  auto x = bytes_of_numbers(std::vector<float>(n, 2)), y = bytes_of_numbers(std::vector<float>(n, 1));
  const std::string told = run("saxpy_sgpr", {.groups = {more / 64, 1, 1}}, {&x, &y, 3.0f, more});
  EXPECT_TRUE(told.starts_with("escape: ")) << told;
  EXPECT_EQ(numbers_of<float>(y), std::vector<float>(n, 7));
}

}  // namespace
}  // namespace orrery::dispatch
