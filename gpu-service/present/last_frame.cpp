#include "gpu-service/present/last_frame.hpp"

#include <cstring>

namespace orrery::present {

void LastFrame::save(const Image& image) {
  if (state_ == nullptr) return;
  const size_t bytes = image.pixels.size() * sizeof(uint32_t);
  if (bytes > pixels_.size()) {
    state_->last_width = state_->last_height = 0;
    return;
  }
  // A death while the size changes must not leave new pixels under an old size.
  if (state_->last_width != image.width || state_->last_height != image.height) state_->last_width = 0;
  std::memcpy(pixels_.data(), image.pixels.data(), bytes);
  state_->last_height = image.height;
  state_->last_width = image.width;
}

std::optional<Image> LastFrame::load() const {
  if (state_ == nullptr) return std::nullopt;
  const uint64_t width = state_->last_width, height = state_->last_height;
  if (width == 0 || height == 0 || width > 16384 || height > 16384 || width * height * 4 > pixels_.size()) {
    return std::nullopt;
  }
  Image image{static_cast<uint32_t>(width), static_cast<uint32_t>(height), std::vector<uint32_t>(width * height)};
  std::memcpy(image.pixels.data(), pixels_.data(), width * height * 4);
  return image;
}

}  // namespace orrery::present
