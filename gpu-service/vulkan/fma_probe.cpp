#include "gpu-service/vulkan/fma_probe.hpp"

#include <array>
#include <cstring>

#include "gpu-service/vulkan/device.hpp"
#include "gpu-service/vulkan/single_run.hpp"

namespace orrery::vulkan {
namespace {

constexpr uint32_t kProbe[] = {
#include "gpu-service/vulkan/fma_probe.inc"
};

}  // namespace

Result<bool> probe_fma(const Device& device) {
  auto pipeline = ComputePipeline::create(device, {kProbe, 1, 0, "fma probe"});
  if (!pipeline) return std::unexpected(std::move(pipeline.error()));
  auto buffer = Buffer::create(device, {16}, BufferPlace::shared, "fma probe");
  if (!buffer) return std::unexpected(std::move(buffer.error()));
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24; the last bit is lost when the product is rounded (to even), so that the sum is
  // 0.
  const std::array<float, 4> numbers{1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -(1.0f + 0x1p-11f), 42.0f};
  std::memcpy(buffer->mapped().data(), numbers.data(), sizeof(numbers));
  const BoundRange range{&*buffer, {0}, {16}};
  ORRERY_TRY(run_single(device, *pipeline, {&range, 1}, {}, {1, 1, 1}));
  float result = 0;
  std::memcpy(&result, buffer->mapped().data() + 12, sizeof(result));
  if (result != 0.0f && result != 0x1p-24f) {
    return fail(ExitCode::no_device, "Fma of three numbers gave {}; neither {} nor 0", result, 0x1p-24f);
  }
  return result != 0.0f;
}

}  // namespace orrery::vulkan
