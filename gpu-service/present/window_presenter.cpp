#include "gpu-service/present/window_presenter.hpp"

namespace orrery::present {

Result<std::vector<std::string>> window_instance_extensions() {
  return fail(ExitCode::usage, "the window is not built yet; use --headless");
}

Result<std::unique_ptr<Presenter>> make_window_presenter(const PresenterOptions&, FrameKeeper, const DeviceHandles&) {
  return fail(ExitCode::usage, "the window is not built yet; use --headless");
}

}  // namespace orrery::present
