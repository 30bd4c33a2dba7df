// Dispatches with images: bound like buffers, one pipeline for each format, refusals by name.
#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "tests/gpu-service/dispatch/corpus_kernel.hpp"
#include "tests/gpu-service/shader/corpus/shader_corpus.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::dispatch {
namespace {

constexpr uint32_t kSide = 64;
constexpr uint32_t kRgba8Unorm = 56, kRgba8Uint = 60, kR32Float = 22;

class ImageDispatches : public vulkan::DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (device == nullptr) return;
    auto made = DispatchExecutor::create(*device, *guest.memory, {});
    ASSERT_TRUE(made) << made.error().describe();
    executor = std::move(*made);
  }
  void TearDown() override {
    executor.reset();
    DeviceTest::TearDown();
  }
  // A square 2D image, linear unless `tiling` says otherwise.
  static KernelImage image(std::vector<std::byte>& texels, uint32_t format, uint32_t tiling = 0) {
    KernelImage out{&texels, {}};
    out.words[1] = format << 20 | ((kSide - 1) & 3) << 30;
    out.words[2] = (kSide - 1) >> 2 | (kSide - 1) << 14 | 1u << 31;
    out.words[3] = 0xfac | tiling << 20 | 9u << 28;
    return out;
  }
  std::string run(uint32_t from_format, std::vector<std::byte>& from, std::vector<std::byte>& to, uint32_t tiling = 0) {
    const auto kernel = CorpusKernel::load(shader_corpus() + "/image_load_store.w32");
    if (!kernel) return kernel.error().describe();
    const auto said = run_kernel(*executor, guest, *kernel, {.groups = {kSide / 8, kSide / 8, 1}},
                                 {image(from, from_format), image(to, kR32Float, tiling)});
    return said ? *said : said.error().describe();
  }
  static std::vector<std::byte> texels() {
    std::vector<uint32_t> words(kSide * kSide);
    for (uint32_t i = 0; i < words.size(); ++i) words[i] = i * 2654435761u;
    return bytes_of_numbers(words);
  }
  // image_load_store.cl
  static float expected(const std::vector<uint32_t>& from, bool normalised, uint32_t x, uint32_t y) {
    const auto component = [&](uint32_t at_x, uint32_t at_y, uint32_t c) {
      if (at_x >= kSide || at_y >= kSide) return 0.0f;
      const uint32_t bits = from[at_y * kSide + at_x] >> (8 * c) & 255;
      return normalised ? static_cast<float>(bits) / 255.0f : std::bit_cast<float>(bits);
    };
    return component(x, y, 0) * 0.5f + component(x - 1, y, 1) * 0.25f + component(x, y + 1, 2) * 0.125f +
           component(x, y, 3);
  }

  TestGuest guest;
  std::unique_ptr<DispatchExecutor> executor;
};

TEST_F(ImageDispatches, are_bound_and_wait_for_nothing) {
  std::vector<std::byte> from = texels(), to(kSide * kSide * 4);
  ASSERT_EQ(run(kRgba8Unorm, from, to), "");
  const auto words = numbers_of<uint32_t>(from);
  const auto results = numbers_of<float>(to);
  for (uint32_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i], expected(words, true, i % kSide, i / kSide)) << i;
  }
  EXPECT_EQ(executor->counters().bound, 1u);
  EXPECT_EQ(executor->counters().device_addressed, 0u);
}

TEST_F(ImageDispatches, of_another_format_have_another_pipeline) {
  std::vector<std::byte> from = texels(), to(kSide * kSide * 4);
  for (const bool normalised : {true, false, true}) {
    ASSERT_EQ(run(normalised ? kRgba8Unorm : kRgba8Uint, from, to), "");
    const auto words = numbers_of<uint32_t>(from);
    const auto results = numbers_of<float>(to);
    for (uint32_t i = 0; i < results.size(); ++i) {
      ASSERT_EQ(results[i], expected(words, normalised, i % kSide, i / kSide)) << normalised << " " << i;
    }
  }
  EXPECT_EQ(executor->counters().programs, 1u);
}

TEST_F(ImageDispatches, that_are_refused_say_why_and_where) {
  std::vector<std::byte> from = texels(), to(kSide * kSide * 4, std::byte{7});
  const std::string said = run(kRgba8Unorm, from, to, 9);
  EXPECT_NE(said.find("image: queue 0"), std::string::npos) << said;
  EXPECT_NE(said.find("tiling mode"), std::string::npos) << said;
  EXPECT_EQ(to, std::vector<std::byte>(to.size(), std::byte{7}));
  // The next dispatch of the same program goes on.
  EXPECT_EQ(run(kRgba8Unorm, from, to), "");
}

}  // namespace
}  // namespace orrery::dispatch
