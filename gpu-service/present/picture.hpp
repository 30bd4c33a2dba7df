// One frame on the device: a host-visible staging buffer and the image that swapchain images are blitted from.
#pragma once

#include <vulkan/vulkan_core.h>

#include "gpu-service/present/presenter.hpp"

namespace orrery::present {

class Picture {
 public:
  // `format` is R8G8B8A8 as UNORM, or as SRGB for a swapchain that encodes.
  Picture(VkPhysicalDevice physical, VkDevice device, VkFormat format)
      : physical_(physical), device_(device), format_(format) {}
  ~Picture() { free(); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  // Copies the frame to the staging buffer; the device must not be using it.
  Result<void> set(const Image& image);
  // Records staging -> image when it changed; the image is then a transfer source.
  void record_upload(VkCommandBuffer commands);
  VkImage image() const { return image_; }
  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  bool empty() const { return image_ == VK_NULL_HANDLE; }

 private:
  Result<void> allocate(uint32_t width, uint32_t height);
  Result<VkDeviceMemory> memory_for(const VkMemoryRequirements& needs, VkMemoryPropertyFlags flags, const char* what);
  void free();

  VkPhysicalDevice physical_;
  VkDevice device_;
  VkFormat format_;
  uint32_t width_ = 0, height_ = 0;
  VkBuffer staging_ = VK_NULL_HANDLE;
  VkDeviceMemory staging_memory_ = VK_NULL_HANDLE, image_memory_ = VK_NULL_HANDLE;
  void* mapped_ = nullptr;
  VkImage image_ = VK_NULL_HANDLE;
  bool changed_ = false;
};

// A layout transition (and ordering) of a whole colour image.
void record_transition(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to,
                       VkAccessFlags before, VkAccessFlags after, VkPipelineStageFlags stage_before,
                       VkPipelineStageFlags stage_after);

}  // namespace orrery::present
