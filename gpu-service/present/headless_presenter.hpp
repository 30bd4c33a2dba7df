// Shows nothing; only keeps frames.
#pragma once

#include "gpu-service/present/frame_keeper.hpp"

namespace orrery::present {

class HeadlessPresenter final : public Presenter {
 public:
  explicit HeadlessPresenter(FrameKeeper keeper) : keeper_(std::move(keeper)) {}
  bool looks() const override { return !keeper_.directory().empty(); }
  Result<void> present(const Image& image, uint64_t flip_index) override { return keeper_.keep(image, flip_index); }
  std::optional<PadState> poll() override { return std::nullopt; }
  bool closed() const override { return false; }

 private:
  FrameKeeper keeper_;
};

}  // namespace orrery::present
