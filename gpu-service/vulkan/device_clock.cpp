#include "gpu-service/vulkan/device_clock.hpp"

#include "gpu-service/vulkan/device.hpp"

namespace orrery::vulkan {
namespace {

// Clocks drift apart by some parts in a million: a microsecond in so long.
constexpr uint64_t kCalibrateEveryNs = 100'000'000;

}  // namespace

DeviceClock::DeviceClock(const Device& device)
    : device_(&device),
      period_ns_(device.facts().timestamp_period_ns),
      valid_mask_(device.facts().timestamp_bits >= 64 ? ~0ull : (1ull << device.facts().timestamp_bits) - 1),
      calibrated_(device.clocks().has_value()) {}

uint64_t DeviceClock::duration_ns(uint64_t from_ticks, uint64_t to_ticks) const {
  const uint64_t ticks = (to_ticks - from_ticks) & valid_mask_;
  // Small clocks go round; a negative difference is a stamp that is out of order.
  if (ticks > valid_mask_ / 2) return 0;
  return static_cast<uint64_t>(static_cast<double>(ticks) * period_ns_);
}

uint64_t DeviceClock::host_ns(uint64_t ticks) const {
  const uint64_t ahead = (ticks - pair_.device_ticks) & valid_mask_;
  if (ahead <= valid_mask_ / 2) return pair_.host_ns + duration_ns(pair_.device_ticks, ticks);
  return pair_.host_ns - duration_ns(ticks, pair_.device_ticks);
}

void DeviceClock::adjust(uint64_t last_ticks, uint64_t seen_ns) {
  if (calibrated_) {
    if (calibrated_at_ns_ != 0 && seen_ns - calibrated_at_ns_ < kCalibrateEveryNs) return;
    if (const auto pair = device_->clocks()) {
      pair_ = *pair;
      calibrated_at_ns_ = seen_ns;
      return;
    }
    calibrated_ = calibrated_at_ns_ != 0;  // the last pair must do
    if (calibrated_) return;
  }
  // The stamp is older than the moment we saw it: the pair that puts it earliest is nearest to the truth.
  if (calibrated_at_ns_ == 0 || seen_ns < host_ns(last_ticks)) {
    pair_ = {last_ticks, seen_ns};
    calibrated_at_ns_ = seen_ns;
  }
}

}  // namespace orrery::vulkan
