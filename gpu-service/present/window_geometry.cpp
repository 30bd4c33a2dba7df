#include "gpu-service/present/window_geometry.hpp"

#include <algorithm>

namespace orrery::present {
namespace {

constexpr uint32_t kSmallestSide = 16, kLargestSide = 16384;
constexpr int32_t kFarthest = 32768;

// Width and height of a frame scaled to fit a box.
Rectangle fitted(uint64_t frame_width, uint64_t frame_height, uint64_t width, uint64_t height) {
  if (frame_width * height > width * frame_height) {
    height = std::max<uint64_t>(width * frame_height / frame_width, 1);
  } else {
    width = std::max<uint64_t>(height * frame_width / frame_height, 1);
  }
  return {0, 0, static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
}

}  // namespace

Rectangle place_of_frame(uint32_t frame_width, uint32_t frame_height, uint32_t window_width, uint32_t window_height) {
  if (frame_width == 0 || frame_height == 0 || window_width == 0 || window_height == 0) return {};
  Rectangle place = fitted(frame_width, frame_height, window_width, window_height);
  place.x = static_cast<int32_t>((window_width - place.width) / 2);
  place.y = static_cast<int32_t>((window_height - place.height) / 2);
  return place;
}

Rectangle first_window(uint32_t frame_width, uint32_t frame_height, const Rectangle& usable) {
  Rectangle window{0, 0, frame_width, frame_height};
  if (frame_width > usable.width || frame_height > usable.height) {
    window = fitted(frame_width, frame_height, std::max(usable.width * 4 / 5, kSmallestSide),
                    std::max(usable.height * 4 / 5, kSmallestSide));
  }
  window.x = usable.x + (static_cast<int32_t>(usable.width) - static_cast<int32_t>(window.width)) / 2;
  window.y = usable.y + (static_cast<int32_t>(usable.height) - static_cast<int32_t>(window.height)) / 2;
  return window;
}

std::optional<RestoredWindow> restored_window(const protocol::WindowState& state) {
  if (state.valid.load(std::memory_order_acquire) != 1) return std::nullopt;
  const RestoredWindow window{{state.x, state.y, state.width, state.height}, state.full_screen != 0};
  const Rectangle& place = window.place;
  const bool possible = place.x >= -kFarthest && place.x <= kFarthest && place.y >= -kFarthest &&
                        place.y <= kFarthest && place.width >= kSmallestSide && place.width <= kLargestSide &&
                        place.height >= kSmallestSide && place.height <= kLargestSide;
  if (!possible) return std::nullopt;
  return window;
}

}  // namespace orrery::present
