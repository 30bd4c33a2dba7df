#include "gpu-service/present/picture.hpp"

#include <cstring>
#include <utility>

#include "gpu-service/vulkan/vulkan_result.hpp"

namespace orrery::present {

void record_transition(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to,
                       VkAccessFlags before, VkAccessFlags after, VkPipelineStageFlags stage_before,
                       VkPipelineStageFlags stage_after) {
  VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = before;
  barrier.dstAccessMask = after;
  barrier.oldLayout = from;
  barrier.newLayout = to;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  vkCmdPipelineBarrier(commands, stage_before, stage_after, 0, 0, nullptr, 0, nullptr, 1, &barrier);
}

Result<void> Picture::set(const Image& image) {
  if (image.width != width_ || image.height != height_) {
    free();
    if (auto made = allocate(image.width, image.height); !made) {
      free();
      return made;
    }
  }
  std::memcpy(mapped_, image.pixels.data(), image.pixels.size() * sizeof(uint32_t));
  changed_ = true;
  return {};
}

void Picture::record_upload(VkCommandBuffer commands) {
  if (!std::exchange(changed_, false)) return;
  // What earlier frames blitted from it is done (the fence was waited for), so its contents may go.
  record_transition(commands, image_, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 0,
                    VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {width_, height_, 1};
  vkCmdCopyBufferToImage(commands, staging_, image_, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
  record_transition(commands, image_, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                    VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_TRANSFER_READ_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                    VK_PIPELINE_STAGE_TRANSFER_BIT);
}

Result<VkDeviceMemory> Picture::memory_for(const VkMemoryRequirements& needs, VkMemoryPropertyFlags flags,
                                           const char* what) {
  VkPhysicalDeviceMemoryProperties types;
  vkGetPhysicalDeviceMemoryProperties(physical_, &types);
  for (uint32_t i = 0; i < types.memoryTypeCount; ++i) {
    if ((needs.memoryTypeBits >> i & 1) == 0 || (types.memoryTypes[i].propertyFlags & flags) != flags) continue;
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    info.allocationSize = needs.size;
    info.memoryTypeIndex = i;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    ORRERY_TRY(vulkan::checked(vkAllocateMemory(device_, &info, nullptr, &memory), "vkAllocateMemory"));
    return memory;
  }
  return fail(ExitCode::internal, "the device has no memory for {}", what);
}

Result<void> Picture::allocate(uint32_t width, uint32_t height) {
  VkBufferCreateInfo buffer{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  buffer.size = VkDeviceSize{width} * height * 4;
  buffer.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
  ORRERY_TRY(vulkan::checked(vkCreateBuffer(device_, &buffer, nullptr, &staging_), "vkCreateBuffer"));
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device_, staging_, &needs);
  auto memory =
      memory_for(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, "a frame");
  if (!memory) return std::unexpected(std::move(memory.error()));
  staging_memory_ = *memory;
  ORRERY_TRY(vulkan::checked(vkBindBufferMemory(device_, staging_, staging_memory_, 0), "vkBindBufferMemory"));
  ORRERY_TRY(vulkan::checked(vkMapMemory(device_, staging_memory_, 0, VK_WHOLE_SIZE, 0, &mapped_), "vkMapMemory"));

  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = format_;
  info.extent = {width, height, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  ORRERY_TRY(vulkan::checked(vkCreateImage(device_, &info, nullptr, &image_), "vkCreateImage"));
  vkGetImageMemoryRequirements(device_, image_, &needs);
  memory = memory_for(needs, 0, "a frame's image");
  if (!memory) return std::unexpected(std::move(memory.error()));
  image_memory_ = *memory;
  ORRERY_TRY(vulkan::checked(vkBindImageMemory(device_, image_, image_memory_, 0), "vkBindImageMemory"));
  width_ = width;
  height_ = height;
  return {};
}

void Picture::free() {
  vkDestroyImage(device_, std::exchange(image_, VK_NULL_HANDLE), nullptr);
  vkFreeMemory(device_, std::exchange(image_memory_, VK_NULL_HANDLE), nullptr);
  vkDestroyBuffer(device_, std::exchange(staging_, VK_NULL_HANDLE), nullptr);
  vkFreeMemory(device_, std::exchange(staging_memory_, VK_NULL_HANDLE), nullptr);
  mapped_ = nullptr;
  width_ = height_ = 0;
}

}  // namespace orrery::present
