// The device's time stamps on the host's time line (CLOCK_MONOTONIC). With VK_EXT_calibrated_timestamps both clocks are
// read together now and then; without it, the smallest delay ever seen between a batch's last time stamp and its fence
// stands for none at all, so the device's work appears late by that delay.
#pragma once

#include <cstdint>
#include <optional>

namespace orrery::vulkan {

class Device;

// Both clocks at one moment.
struct ClockPair {
  uint64_t device_ticks = 0, host_ns = 0;
};

class DeviceClock {
 public:
  DeviceClock() = default;
  explicit DeviceClock(const Device& device);

  // The device writes time stamps at all.
  bool available() const { return valid_mask_ != 0; }
  bool calibrated() const { return calibrated_; }
  // Before stamps are converted. `last_ticks` was written before `seen_ns`, when the host found the work done.
  void adjust(uint64_t last_ticks, uint64_t seen_ns);
  uint64_t host_ns(uint64_t ticks) const;
  uint64_t duration_ns(uint64_t from_ticks, uint64_t to_ticks) const;

 private:
  const Device* device_ = nullptr;
  double period_ns_ = 1;
  uint64_t valid_mask_ = 0;
  bool calibrated_ = false;
  ClockPair pair_;
  uint64_t calibrated_at_ns_ = 0;
};

}  // namespace orrery::vulkan
