#include "gpu-service/vulkan/device_probe.hpp"

#include <cstring>

#include "gpu-service/vulkan/device.hpp"
#include "gpu-service/vulkan/single_run.hpp"

namespace orrery::vulkan {
namespace {

constexpr uint32_t kProbe[] = {
#include "gpu-service/vulkan/device_probe.inc"
};

struct Numbers {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24; the last bit is lost when the product is rounded (to even), so that the sum is
  // 0.
  float a = 1.0f + 0x1p-12f, b = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f), result = 42.0f;
  uint32_t wanted = 1 << 17, stop = 0, rounds = 0;
};

}  // namespace

Result<DeviceProbe> probe_device(const Device& device) {
  auto pipeline = ComputePipeline::create(device, {kProbe, 1, 0, "device probe"});
  if (!pipeline) return std::unexpected(std::move(pipeline.error()));
  auto buffer = Buffer::create(device, {sizeof(Numbers)}, BufferPlace::shared, "device probe");
  if (!buffer) return std::unexpected(std::move(buffer.error()));
  Numbers numbers;
  std::memcpy(buffer->mapped().data(), &numbers, sizeof(numbers));
  const BoundRange range{&*buffer, {0}, {sizeof(numbers)}};
  ORRERY_TRY(run_single(device, *pipeline, {&range, 1}, {}, {1, 1, 1}));
  std::memcpy(&numbers, buffer->mapped().data(), sizeof(numbers));
  if (numbers.result != 0.0f && numbers.result != 0x1p-24f) {
    return fail(ExitCode::no_device, "Fma of three numbers gave {}; neither {} nor 0", numbers.result, 0x1p-24f);
  }
  DeviceProbe probe;
  probe.fuses_fma = numbers.result != 0.0f;
  if (numbers.rounds != numbers.wanted) probe.loop_limit = numbers.rounds;
  return probe;
}

}  // namespace orrery::vulkan
