#include "gpu-service/draw/colour_image.hpp"

#include <utility>

#include "gpu-service/vulkan/device.hpp"

namespace orrery::draw {
namespace {

constexpr VkImageSubresourceRange kWhole{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

}  // namespace

Result<ColourImage> ColourImage::create(const vulkan::Device& device, VkFormat format, uint32_t width,
                                        uint32_t height) {
  ColourImage out;
  out.device_ = device.handle();
  out.width_ = width;
  out.height_ = height;
  ORRERY_TRY(out.make_image(device, format));
  ORRERY_TRY(out.make_pass(device, format));
  auto rows = vulkan::Buffer::create(device, {uint64_t{width} * height * 4}, vulkan::BufferPlace::device, "rows");
  if (!rows) return std::unexpected(std::move(rows.error()));
  out.rows_ = std::move(*rows);
  return out;
}

Result<void> ColourImage::make_image(const vulkan::Device& device, VkFormat format) {
  VkImageCreateInfo image{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  image.imageType = VK_IMAGE_TYPE_2D;
  image.format = format;
  image.extent = {width_, height_, 1};
  image.mipLevels = image.arrayLayers = 1;
  image.samples = VK_SAMPLE_COUNT_1_BIT;
  image.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  VkResult result = vkCreateImage(device_, &image, nullptr, &image_);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateImage");
  VkMemoryRequirements needs{};
  vkGetImageMemoryRequirements(device_, image_, &needs);
  const auto type = device.memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  if (!type) return fail(ExitCode::internal, "no device-local memory for a colour target");
  VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = *type;
  result = vkAllocateMemory(device_, &allocation, nullptr, &memory_);
  if (result != VK_SUCCESS) return device.error(result, "vkAllocateMemory");
  result = vkBindImageMemory(device_, image_, memory_, 0);
  if (result != VK_SUCCESS) return device.error(result, "vkBindImageMemory");
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = image_;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = format;
  view.subresourceRange = kWhole;
  result = vkCreateImageView(device_, &view, nullptr, &view_);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateImageView");
  device.name(VK_OBJECT_TYPE_IMAGE, reinterpret_cast<uint64_t>(image_), "colour target");
  return {};
}

Result<void> ColourImage::make_pass(const vulkan::Device& device, VkFormat format) {
  VkAttachmentDescription attachment{};
  attachment.format = format;
  attachment.samples = VK_SAMPLE_COUNT_1_BIT;
  attachment.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
  attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  attachment.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  attachment.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  attachment.initialLayout = attachment.finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  const VkAttachmentReference colour{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
  VkSubpassDescription subpass{};
  subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &colour;
  VkRenderPassCreateInfo pass{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  pass.attachmentCount = 1;
  pass.pAttachments = &attachment;
  pass.subpassCount = 1;
  pass.pSubpasses = &subpass;
  VkResult result = vkCreateRenderPass(device_, &pass, nullptr, &pass_);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateRenderPass");
  VkFramebufferCreateInfo framebuffer{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  framebuffer.renderPass = pass_;
  framebuffer.attachmentCount = 1;
  framebuffer.pAttachments = &view_;
  framebuffer.width = width_;
  framebuffer.height = height_;
  framebuffer.layers = 1;
  result = vkCreateFramebuffer(device_, &framebuffer, nullptr, &framebuffer_);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateFramebuffer");
  return {};
}

void ColourImage::take_layout(VkCommandBuffer commands, VkImageLayout layout) {
  VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.oldLayout = std::exchange(layout_, layout);
  barrier.newLayout = layout;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image_;
  barrier.subresourceRange = kWhole;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr,
                       0, nullptr, 1, &barrier);
}

void ColourImage::rows_to_image(VkCommandBuffer commands) {
  take_layout(commands, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
  const VkBufferImageCopy all{0, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, {}, {width_, height_, 1}};
  vkCmdCopyBufferToImage(commands, rows_.handle(), image_, layout_, 1, &all);
}

void ColourImage::image_to_rows(VkCommandBuffer commands) {
  take_layout(commands, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
  const VkBufferImageCopy all{0, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, {}, {width_, height_, 1}};
  vkCmdCopyImageToBuffer(commands, image_, layout_, rows_.handle(), 1, &all);
}

void ColourImage::begin_pass(VkCommandBuffer commands) {
  take_layout(commands, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
  VkRenderPassBeginInfo pass{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  pass.renderPass = pass_;
  pass.framebuffer = framebuffer_;
  pass.renderArea.extent = {width_, height_};
  vkCmdBeginRenderPass(commands, &pass, VK_SUBPASS_CONTENTS_INLINE);
}

ColourImage& ColourImage::operator=(ColourImage&& other) noexcept {
  if (this == &other) return *this;
  reset();
  device_ = std::exchange(other.device_, VK_NULL_HANDLE);
  image_ = std::exchange(other.image_, VK_NULL_HANDLE);
  memory_ = std::exchange(other.memory_, VK_NULL_HANDLE);
  view_ = std::exchange(other.view_, VK_NULL_HANDLE);
  pass_ = std::exchange(other.pass_, VK_NULL_HANDLE);
  framebuffer_ = std::exchange(other.framebuffer_, VK_NULL_HANDLE);
  rows_ = std::move(other.rows_);
  width_ = other.width_;
  height_ = other.height_;
  layout_ = other.layout_;
  return *this;
}

void ColourImage::reset() {
  if (device_ == VK_NULL_HANDLE) return;
  vkDestroyFramebuffer(device_, framebuffer_, nullptr);
  vkDestroyRenderPass(device_, pass_, nullptr);
  vkDestroyImageView(device_, view_, nullptr);
  vkDestroyImage(device_, image_, nullptr);
  vkFreeMemory(device_, memory_, nullptr);
  device_ = VK_NULL_HANDLE;
}

}  // namespace orrery::draw
