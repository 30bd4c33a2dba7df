// The last frame shown, in the control segment, so that the next life shows it at once.
#pragma once

#include <optional>

#include "gpu-service/present/presenter.hpp"

namespace orrery::present {

class LastFrame {
 public:
  LastFrame(protocol::WindowState* state, std::span<std::byte> pixels) : state_(state), pixels_(pixels) {}
  // Frames larger than the segment's part are not kept.
  void save(const Image& image);
  std::optional<Image> load() const;

 private:
  protocol::WindowState* state_;
  std::span<std::byte> pixels_;
};

}  // namespace orrery::present
