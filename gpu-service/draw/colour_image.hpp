// A colour target on the device: an image, what draws render into, and rows of its pixels for copies.
#pragma once

#include <vulkan/vulkan_core.h>

#include "gpu-service/vulkan/buffer.hpp"
#include "shared/error.hpp"

namespace orrery::vulkan {
class Device;
}

namespace orrery::draw {

class ColourImage {
 public:
  // 32 bits a pixel; undefined until rows were copied to it.
  static Result<ColourImage> create(const vulkan::Device& device, VkFormat format, uint32_t width, uint32_t height);
  ColourImage(ColourImage&& other) noexcept { *this = std::move(other); }
  ColourImage& operator=(ColourImage&& other) noexcept;
  ColourImage(const ColourImage&) = delete;
  ColourImage& operator=(const ColourImage&) = delete;
  ~ColourImage() { reset(); }

  // Barriers for memory are the caller's; these change the image's layout as they need it.
  void rows_to_image(VkCommandBuffer commands);
  void image_to_rows(VkCommandBuffer commands);
  void begin_pass(VkCommandBuffer commands);

  VkRenderPass pass() const { return pass_; }  // keeps what is there
  const vulkan::Buffer& rows() const { return rows_; }
  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }

 private:
  ColourImage() = default;
  Result<void> make_image(const vulkan::Device& device, VkFormat format);
  Result<void> make_pass(const vulkan::Device& device, VkFormat format);
  void take_layout(VkCommandBuffer commands, VkImageLayout layout);
  void reset();

  VkDevice device_ = VK_NULL_HANDLE;
  VkImage image_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
  VkRenderPass pass_ = VK_NULL_HANDLE;
  VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
  vulkan::Buffer rows_;
  uint32_t width_ = 0, height_ = 0;
  VkImageLayout layout_ = VK_IMAGE_LAYOUT_UNDEFINED;  // behind what was recorded
};

}  // namespace orrery::draw
