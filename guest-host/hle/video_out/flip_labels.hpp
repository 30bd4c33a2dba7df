// Where the display keeps one 64-bit label per buffer: 1 while the buffer waits to be shown or is on screen, 0 when it
// may be drawn to. Guest addresses as measured on hardware (guest-abi.md 4.3).
#pragma once

#include "shared/quantity.hpp"

namespace orrery::hle::video_out {

inline constexpr GuestAddress kFlipLabels{0xC'8000'40A0};
inline constexpr uint32_t kMaxBuffers = 16;
constexpr GuestAddress flip_label(uint32_t buffer) { return kFlipLabels + Bytes{8ull * buffer}; }

}  // namespace orrery::hle::video_out
