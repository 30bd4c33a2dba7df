// The controller: one pad, fed by the GPU service's window.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "guest-host/clock/guest_clock.hpp"
#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/registry.hpp"
#include "guest-host/link/listener.hpp"

namespace orrery::hle::pad {

// A pad's state as titles read it (guest-abi.md 7, T5; the stride of 120 bytes is believed, not measured).
struct PadData {
  uint32_t buttons = 0;
  uint8_t left_x = 128, left_y = 128, right_x = 128, right_y = 128;
  uint8_t l2 = 0, r2 = 0;
  uint16_t reserved_0a = 0;
  std::array<float, 4> orientation{0, 0, 0, 1};
  std::array<float, 3> acceleration{};
  std::array<float, 3> angular_velocity{};
  std::array<uint8_t, 24> touch{};  // count 0
  uint8_t connected = 1;
  uint8_t reserved_4d[3] = {};
  uint64_t timestamp_us = 0;
  std::array<uint8_t, 32> more{};
};
static_assert(sizeof(PadData) == 120);

class Pad {
 public:
  void set(const link::PadInput& input);
  // The state now.
  PadData read(const clock::GuestClock& clock) const;

 private:
  mutable std::mutex mutex_;
  link::PadInput input_;
};

void add_library(Registry& registry, Environment& environment, Pad& pad, clock::GuestClock& clock);

}  // namespace orrery::hle::pad
