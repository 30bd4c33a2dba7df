#include "gpu-service/vulkan/device_probe.hpp"

#include <array>
#include <cstring>
#include <span>

#include "gpu-service/vulkan/device.hpp"
#include "gpu-service/vulkan/single_run.hpp"

namespace orrery::vulkan {
namespace {

constexpr uint32_t kProbe[] = {
#include "gpu-service/vulkan/device_probe.inc"
};
constexpr uint32_t kProbeKeep[] = {
#include "gpu-service/vulkan/device_probe_keep.inc"
};
constexpr uint32_t kProbeHalves[] = {
#include "gpu-service/vulkan/device_probe_halves.inc"
};
constexpr uint32_t kProbeDoubles[] = {
#include "gpu-service/vulkan/device_probe_doubles.inc"
};

struct Numbers {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24; the last bit is lost when the product is rounded (to even), so that the sum is
  // 0.
  float a = 1.0f + 0x1p-12f, b = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f), result = 42.0f;
  uint32_t wanted = 1 << 17, stop = 0, rounds = 0;
  // 0, -0, the denormal 2^-127, 8, 2^-100 and 2^-30, and the products 2^-124 and 2^-130, which is denormal.
  std::array<uint32_t, 8> bits{0, 0x80000000, 0x00400000, 0x41000000, 0x0d800000, 0x30800000, 0x01800000, 0x00080000};
  std::array<uint32_t, 8> results{};
};

Result<void> run(const Device& device, std::span<const uint32_t> code, Numbers& numbers) {
  auto pipeline = ComputePipeline::create(device, {code, 1, 0, "device probe"});
  if (!pipeline) return std::unexpected(std::move(pipeline.error()));
  auto buffer = Buffer::create(device, {sizeof(Numbers)}, BufferPlace::shared, "device probe");
  if (!buffer) return std::unexpected(std::move(buffer.error()));
  std::memcpy(buffer->mapped().data(), &numbers, sizeof(numbers));
  const BoundRange range{&*buffer, {0}, {sizeof(numbers)}};
  ORRERY_TRY(run_single(device, *pipeline, {&range, 1}, {}, {1, 1, 1}));
  std::memcpy(&numbers, buffer->mapped().data(), sizeof(numbers));
  return {};
}

// Each way a conversion to half may round: ties to even below and above, past half, overflow, denormals, both signs.
Result<bool> rounds_halves(const Device& device) {
  Numbers numbers;
  numbers.bits = {0x3f801000, 0x3f803000, 0x3f801001, 0xbf803000, 0x477ff000, 0x33800000, 0x33000001, 0xb3000000};
  ORRERY_TRY(run(device, kProbeHalves, numbers));
  return numbers.results == std::array<uint32_t, 8>{0x3f800000, 0x3f804000, 0x3f802000, 0xbf804000,
                                                    0x7f800000, 0x33800000, 0x33800000, 0x80000000};
}

// 1 + 2^-24, 1 + 2^-23 + 2^-24, 1 + 3 * 2^-25 and its negative.
Result<bool> rounds_doubles(const Device& device) {
  Numbers numbers;
  numbers.bits = {0x3f800000, 0x33800000, 0x3f800001, 0x33800000, 0x3f800000, 0x33c00000, 0xbf800000, 0xb3c00000};
  ORRERY_TRY(run(device, kProbeDoubles, numbers));
  return numbers.results[0] == 0x3f800000 && numbers.results[1] == 0x3f800002 && numbers.results[2] == 0x3f800001 &&
         numbers.results[3] == 0xbf800001;
}

}  // namespace

Result<DeviceProbe> probe_device(const Device& device) {
  Numbers numbers;
  const DeviceFacts& facts = device.facts();
  const bool keep = (facts.keeps_denormals_of & 32) != 0 || facts.keeps_denormals_unsaid;
  ORRERY_TRY(run(device, keep ? std::span<const uint32_t>(kProbeKeep) : kProbe, numbers));
  if (numbers.result != 0.0f && numbers.result != 0x1p-24f) {
    return fail(ExitCode::no_device, "Fma of three numbers gave {}; neither {} nor 0", numbers.result, 0x1p-24f);
  }
  DeviceProbe probe;
  probe.fuses_fma = numbers.result != 0.0f;
  constexpr uint32_t kMinus = 0x80000000;
  const auto& got = numbers.results;
  probe.orders_zeros = got[0] == kMinus && got[1] == kMinus && got[2] == 0 && got[3] == 0;
  // 2^-127 + 0, 2^-127 * 8, 2^-130, 2^-127 > 0; bit 1: the same by Fma.
  probe.keeps_denormals = got[4] == 0x00400000 && got[5] == 0x01800000 && got[6] == 0x00080000 && (got[7] & 1) != 0;
  probe.fma_keeps_denormals = (got[7] & 2) != 0;
  if (device.facts().float16) {
    auto halves = rounds_halves(device);
    if (!halves) return std::unexpected(std::move(halves.error()));
    probe.rounds_halves = *halves;
  }
  if (device.facts().float64) {
    auto doubles = rounds_doubles(device);
    if (!doubles) return std::unexpected(std::move(doubles.error()));
    probe.rounds_doubles = *doubles;
  }
  if (numbers.rounds != numbers.wanted) probe.loop_limit = numbers.rounds;
  return probe;
}

}  // namespace orrery::vulkan
