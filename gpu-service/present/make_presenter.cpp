#include "gpu-service/present/headless_presenter.hpp"
#include "gpu-service/present/late_window_presenter.hpp"

namespace orrery::present {

Result<std::unique_ptr<Presenter>> make_presenter(const PresenterOptions& options, const DeviceHandles& device,
                                                  std::optional<Error> no_display) {
  auto keeper = FrameKeeper::create(options.run, options.life);
  if (!keeper) return std::unexpected(std::move(keeper.error()));
  if (options.run.headless) return std::make_unique<HeadlessPresenter>(std::move(*keeper));
  auto window = std::make_unique<LateWindowPresenter>(options, std::move(*keeper), device, std::move(no_display));
  const bool had_window = options.window != nullptr && options.window->valid.load(std::memory_order_acquire) != 0;
  if (had_window) ORRERY_TRY(window->open());
  return window;
}

}  // namespace orrery::present
