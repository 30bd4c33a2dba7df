// Making and unmaking the swapchain.
#include <algorithm>

#include "gpu-service/present/swapchain.hpp"
#include "gpu-service/vulkan/vulkan_result.hpp"

namespace orrery::present {

using vulkan::checked;

Swapchain::Swapchain(const DeviceHandles& device, VkSurfaceKHR surface)
    : instance_(static_cast<VkInstance>(device.instance)),
      physical_(static_cast<VkPhysicalDevice>(device.physical_device)),
      device_(static_cast<VkDevice>(device.device)),
      queue_(static_cast<VkQueue>(device.queue)),
      queue_family_(device.queue_family),
      surface_(surface) {}

Result<std::unique_ptr<Swapchain>> Swapchain::create(const DeviceHandles& device, VkSurfaceKHR surface) {
  std::unique_ptr<Swapchain> made(new Swapchain(device, surface));
  ORRERY_TRY(made->choose_format());
  ORRERY_TRY(made->create_commands());
  return made;
}

Result<void> Swapchain::choose_format() {
  VkBool32 supported = VK_FALSE;
  ORRERY_TRY(checked(vkGetPhysicalDeviceSurfaceSupportKHR(physical_, queue_family_, surface_, &supported),
                     "vkGetPhysicalDeviceSurfaceSupportKHR"));
  VkSurfaceCapabilitiesKHR capabilities;
  ORRERY_TRY(checked(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical_, surface_, &capabilities),
                     "vkGetPhysicalDeviceSurfaceCapabilitiesKHR"));
  if (supported == VK_FALSE || (capabilities.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_DST_BIT) == 0) {
    return fail(ExitCode::no_display,
                "this Vulkan device can't show pictures in a window of this display; use --headless or "
                "another device (`orrery devices`)");
  }
  uint32_t count = 0;
  ORRERY_TRY(checked(vkGetPhysicalDeviceSurfaceFormatsKHR(physical_, surface_, &count, nullptr),
                     "vkGetPhysicalDeviceSurfaceFormatsKHR"));
  std::vector<VkSurfaceFormatKHR> formats(count);
  ORRERY_TRY(checked(vkGetPhysicalDeviceSurfaceFormatsKHR(physical_, surface_, &count, formats.data()),
                     "vkGetPhysicalDeviceSurfaceFormatsKHR"));
  // The guest's bytes are what the display shall show: no conversion by the swapchain. Where only encoding formats are
  // offered, the picture decodes, which cancels it.
  constexpr VkFormat kWanted[] = {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB,
                                  VK_FORMAT_R8G8B8A8_SRGB};
  for (const VkFormat wanted : kWanted) {
    const auto found = std::find_if(formats.begin(), formats.end(), [&](const auto& format) {
      return format.format == wanted && format.colorSpace == VK_COLOR_SPACE_SRGB_NONLINEAR_KHR;
    });
    if (found == formats.end()) continue;
    format_ = *found;
    break;
  }
  if (format_.format == VK_FORMAT_UNDEFINED) {
    return fail(ExitCode::no_display, "the window offers no format of 8 bits a channel; use --headless");
  }
  const bool encodes = format_.format == VK_FORMAT_B8G8R8A8_SRGB || format_.format == VK_FORMAT_R8G8B8A8_SRGB;
  picture_ =
      std::make_unique<Picture>(physical_, device_, encodes ? VK_FORMAT_R8G8B8A8_SRGB : VK_FORMAT_R8G8B8A8_UNORM);

  // Flips are paced by the guest process: a mode that never blocks, where there is one.
  ORRERY_TRY(checked(vkGetPhysicalDeviceSurfacePresentModesKHR(physical_, surface_, &count, nullptr),
                     "vkGetPhysicalDeviceSurfacePresentModesKHR"));
  std::vector<VkPresentModeKHR> modes(count);
  ORRERY_TRY(checked(vkGetPhysicalDeviceSurfacePresentModesKHR(physical_, surface_, &count, modes.data()),
                     "vkGetPhysicalDeviceSurfacePresentModesKHR"));
  for (const VkPresentModeKHR mode : {VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR}) {
    if (std::find(modes.begin(), modes.end(), mode) == modes.end()) continue;
    mode_ = mode;
    break;
  }
  return {};
}

Result<void> Swapchain::create_commands() {
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT | VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  pool.queueFamilyIndex = queue_family_;
  ORRERY_TRY(checked(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool"));
  VkCommandBufferAllocateInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  commands.commandPool = pool_;
  commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  commands.commandBufferCount = 1;
  ORRERY_TRY(checked(vkAllocateCommandBuffers(device_, &commands, &commands_), "vkAllocateCommandBuffers"));
  const VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  ORRERY_TRY(checked(vkCreateSemaphore(device_, &semaphore, nullptr, &acquired_), "vkCreateSemaphore"));
  const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  return checked(vkCreateFence(device_, &fence, nullptr, &done_), "vkCreateFence");
}

Result<bool> Swapchain::build(uint32_t window_width, uint32_t window_height) {
  VkSurfaceCapabilitiesKHR capabilities;
  ORRERY_TRY(checked(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical_, surface_, &capabilities),
                     "vkGetPhysicalDeviceSurfaceCapabilitiesKHR"));
  VkExtent2D extent = capabilities.currentExtent;
  if (extent.width == UINT32_MAX) {
    extent.width = std::clamp(window_width, capabilities.minImageExtent.width, capabilities.maxImageExtent.width);
    extent.height = std::clamp(window_height, capabilities.minImageExtent.height, capabilities.maxImageExtent.height);
  }
  if (extent.width == 0 || extent.height == 0) return false;
  ORRERY_TRY(wait_for_device());
  // The fence says nothing about the presentation behind it, which still waits for a semaphore that goes below.
  ORRERY_TRY(checked(vkQueueWaitIdle(queue_), "vkQueueWaitIdle"));
  const VkSwapchainKHR old = swapchain_;
  VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
  info.surface = surface_;
  info.minImageCount = std::max(capabilities.minImageCount + 1, mode_ == VK_PRESENT_MODE_MAILBOX_KHR ? 3u : 2u);
  if (capabilities.maxImageCount != 0) info.minImageCount = std::min(info.minImageCount, capabilities.maxImageCount);
  info.imageFormat = format_.format;
  info.imageColorSpace = format_.colorSpace;
  info.imageExtent = extent;
  info.imageArrayLayers = 1;
  info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  info.imageSharingMode = VK_SHARING_MODE_EXCLUSIVE;
  info.preTransform = capabilities.currentTransform;
  info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
  if ((capabilities.supportedCompositeAlpha & info.compositeAlpha) == 0) {
    info.compositeAlpha = VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;
  }
  info.presentMode = mode_;
  info.clipped = VK_TRUE;
  info.oldSwapchain = old;
  VkSwapchainKHR made = VK_NULL_HANDLE;
  const VkResult result = vkCreateSwapchainKHR(device_, &info, nullptr, &made);
  destroy_images();
  swapchain_ = made;
  ORRERY_TRY(checked(result, "vkCreateSwapchainKHR"));
  extent_ = extent;
  window_width_ = window_width;
  window_height_ = window_height;
  uint32_t count = 0;
  ORRERY_TRY(checked(vkGetSwapchainImagesKHR(device_, swapchain_, &count, nullptr), "vkGetSwapchainImagesKHR"));
  images_.resize(count);
  ORRERY_TRY(checked(vkGetSwapchainImagesKHR(device_, swapchain_, &count, images_.data()), "vkGetSwapchainImagesKHR"));
  const VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  drawn_.resize(count, VK_NULL_HANDLE);
  for (VkSemaphore& drawn : drawn_) {
    ORRERY_TRY(checked(vkCreateSemaphore(device_, &semaphore, nullptr, &drawn), "vkCreateSemaphore"));
  }
  return true;
}

// Also destroys the swapchain itself.
void Swapchain::destroy_images() {
  for (const VkSemaphore drawn : drawn_) vkDestroySemaphore(device_, drawn, nullptr);
  drawn_.clear();
  images_.clear();
  vkDestroySwapchainKHR(device_, swapchain_, nullptr);
  swapchain_ = VK_NULL_HANDLE;
}

Swapchain::~Swapchain() {
  // The presentation engine may still read; nothing better than an idle queue can be waited for.
  vkQueueWaitIdle(queue_);
  picture_.reset();
  destroy_images();
  vkDestroyFence(device_, done_, nullptr);
  vkDestroySemaphore(device_, acquired_, nullptr);
  vkDestroyCommandPool(device_, pool_, nullptr);
  vkDestroySurfaceKHR(instance_, surface_, nullptr);
}

}  // namespace orrery::present
