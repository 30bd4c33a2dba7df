// The window's swapchain: shows a picture, scaled into the window with its aspect ratio kept, and follows the window's
// size.
#pragma once

#include <vulkan/vulkan_core.h>

#include <vector>

#include "gpu-service/present/picture.hpp"
#include "gpu-service/present/window_geometry.hpp"

namespace orrery::present {

class Swapchain {
 public:
  // Takes the surface over. Error (no_display) when the device can't show anything there.
  static Result<std::unique_ptr<Swapchain>> create(const DeviceHandles& device, VkSurfaceKHR surface);
  ~Swapchain();
  Swapchain(const Swapchain&) = delete;
  Swapchain& operator=(const Swapchain&) = delete;

  // Shows the frame in a window of this many pixels. A window that can't be drawn to now (minimised, resized meanwhile)
  // is left out; that is no error.
  Result<void> show(const Image& image, uint32_t window_width, uint32_t window_height);
  // The last frame again.
  Result<void> show_again(uint32_t window_width, uint32_t window_height);

 private:
  Swapchain(const DeviceHandles& device, VkSurfaceKHR surface);
  Result<void> choose_format();
  Result<void> create_commands();
  // Answers false when the window has no area now.
  Result<bool> build(uint32_t window_width, uint32_t window_height);
  void destroy_images();
  Result<void> wait_for_device();
  void record(VkImage target);

  VkInstance instance_;
  VkPhysicalDevice physical_;
  VkDevice device_;
  VkQueue queue_;
  uint32_t queue_family_;
  VkSurfaceKHR surface_;
  VkSurfaceFormatKHR format_{};
  VkPresentModeKHR mode_ = VK_PRESENT_MODE_FIFO_KHR;
  VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
  VkExtent2D extent_{};
  uint32_t window_width_ = 0, window_height_ = 0;
  std::vector<VkImage> images_;
  std::vector<VkSemaphore> drawn_;  // per image: presentation waits for it
  VkSemaphore acquired_ = VK_NULL_HANDLE;
  VkFence done_ = VK_NULL_HANDLE;
  bool busy_ = false;  // done_ will be signalled
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  std::unique_ptr<Picture> picture_;
};

}  // namespace orrery::present
