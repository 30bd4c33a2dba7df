// The window: SDL2 for the window system and input, a Vulkan swapchain on the service's device for the picture.
#pragma once

#include <memory>

#include "gpu-service/present/frame_keeper.hpp"

namespace orrery::present {

// Error no_display: no window can be opened, or the device can't show anything in it.
Result<std::unique_ptr<Presenter>> make_window_presenter(const PresenterOptions& options, FrameKeeper keeper,
                                                         const DeviceHandles& device);

}  // namespace orrery::present
