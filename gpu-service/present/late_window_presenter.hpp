// Opens the window when there is something to show.
#pragma once

#include <utility>

#include "gpu-service/present/window_presenter.hpp"

namespace orrery::present {

class LateWindowPresenter final : public Presenter {
 public:
  LateWindowPresenter(const PresenterOptions& options, FrameKeeper keeper, const DeviceHandles& device,
                      std::optional<Error> no_display)
      : options_(options), keeper_(std::move(keeper)), device_(device), no_display_(std::move(no_display)) {}

  Result<void> open() {
    if (window_ != nullptr) return {};
    if (no_display_) return std::unexpected(*no_display_);
    auto window = make_window_presenter(options_, keeper_, device_);
    if (!window) {
      no_display_ = std::move(window.error());  // it is not tried again
      return std::unexpected(*no_display_);
    }
    window_ = std::move(*window);
    return {};
  }

  Result<void> present(const Image& image, uint64_t flip_index) override {
    ORRERY_TRY(open());
    return window_->present(image, flip_index);
  }
  // Before the window is there, one state with nothing held: what an earlier life held is released.
  std::optional<PadState> poll() override {
    if (window_ != nullptr) return window_->poll();
    return std::exchange(released_, true) ? std::nullopt : std::optional(PadState{});
  }
  bool closed() const override { return window_ != nullptr && window_->closed(); }

 private:
  PresenterOptions options_;
  FrameKeeper keeper_;
  DeviceHandles device_;
  std::optional<Error> no_display_;
  std::unique_ptr<Presenter> window_;
  bool released_ = false;
};

}  // namespace orrery::present
