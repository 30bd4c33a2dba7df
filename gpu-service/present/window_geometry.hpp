// Where windows and pictures go: pure arithmetic on sizes and the state that lives are handed over with.
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/segment_layout.hpp"

namespace orrery::present {

struct Rectangle {
  int32_t x = 0, y = 0;
  uint32_t width = 0, height = 0;
  friend bool operator==(const Rectangle&, const Rectangle&) = default;
};

// The largest centred place for a frame in a window that keeps the frame's aspect ratio. Exact when the sizes are
// equal.
Rectangle place_of_frame(uint32_t frame_width, uint32_t frame_height, uint32_t window_width, uint32_t window_height);

// First size of a window for frames of this size on a screen with this usable size: the frame's own where it fits, else
// four fifths of the screen at the frame's aspect ratio.
Rectangle first_window(uint32_t frame_width, uint32_t frame_height, const Rectangle& usable);

struct RestoredWindow {
  Rectangle place;
  bool full_screen = false;
};
// The window of the last life; nothing when there was none. Values that no window has are not taken.
std::optional<RestoredWindow> restored_window(const protocol::WindowState& state);

}  // namespace orrery::present
