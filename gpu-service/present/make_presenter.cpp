#include "gpu-service/present/headless_presenter.hpp"
#include "gpu-service/present/window_presenter.hpp"

namespace orrery::present {

Result<std::unique_ptr<Presenter>> make_presenter(const PresenterOptions& options, const DeviceHandles& device) {
  auto keeper = FrameKeeper::create(options.run);
  if (!keeper) return std::unexpected(std::move(keeper.error()));
  if (options.run.headless) return std::make_unique<HeadlessPresenter>(std::move(*keeper));
  return make_window_presenter(options, std::move(*keeper), device);
}

}  // namespace orrery::present
