#include "gpu-service/present/swapchain.hpp"

#include <string_view>
#include <utility>

#include "gpu-service/vulkan/vulkan_result.hpp"
#include "shared/injection.hpp"

namespace orrery::present {
namespace {

using vulkan::checked;

// How long a compositor may hold every image (a hidden window) before the frame is left out.
constexpr uint64_t kAcquirePatienceNs = 50'000'000;
constexpr uint64_t kDevicePatienceNs = 20'000'000'000;

VkResult or_lost(std::string_view call, VkResult result) {
  return injection::point(call) ? VK_ERROR_DEVICE_LOST : result;
}

}  // namespace

Result<void> Swapchain::wait_for_device() {
  if (std::exchange(busy_, false)) {
    ORRERY_TRY(
        checked(or_lost("vkWaitForFences-frame", vkWaitForFences(device_, 1, &done_, VK_TRUE, kDevicePatienceNs)),
                "waiting for the last frame"));
    ORRERY_TRY(checked(vkResetFences(device_, 1, &done_), "vkResetFences"));
  }
  return {};
}

Result<void> Swapchain::show(const Image& image, uint32_t window_width, uint32_t window_height) {
  ORRERY_TRY(wait_for_device());
  ORRERY_TRY(picture_->set(image));
  return show_again(window_width, window_height);
}

Result<void> Swapchain::show_again(uint32_t window_width, uint32_t window_height) {
  if (picture_->empty() || window_width == 0 || window_height == 0) return {};
  ORRERY_TRY(wait_for_device());
  // A second try after the swapchain went out of date.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (swapchain_ == VK_NULL_HANDLE || window_width != window_width_ || window_height != window_height_) {
      auto built = build(window_width, window_height);
      if (!built) return std::unexpected(std::move(built.error()));
      if (!*built) return {};
    }
    uint32_t index = 0;
    const VkResult got = or_lost("vkAcquireNextImageKHR", vkAcquireNextImageKHR(device_, swapchain_, kAcquirePatienceNs,
                                                                                acquired_, VK_NULL_HANDLE, &index));
    if (got == VK_TIMEOUT || got == VK_NOT_READY) return {};
    if (got == VK_ERROR_OUT_OF_DATE_KHR) {
      window_width_ = 0;
      continue;
    }
    if (got != VK_SUBOPTIMAL_KHR) ORRERY_TRY(checked(got, "vkAcquireNextImageKHR"));

    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                         VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
    ORRERY_TRY(checked(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer"));
    record(images_[index]);
    ORRERY_TRY(checked(vkEndCommandBuffer(commands_), "vkEndCommandBuffer"));
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.waitSemaphoreCount = submit.signalSemaphoreCount = submit.commandBufferCount = 1;
    submit.pWaitSemaphores = &acquired_;
    submit.pWaitDstStageMask = &stage;
    submit.pCommandBuffers = &commands_;
    submit.pSignalSemaphores = &drawn_[index];
    ORRERY_TRY(checked(or_lost("vkQueueSubmit-frame", vkQueueSubmit(queue_, 1, &submit, done_)), "vkQueueSubmit"));
    busy_ = true;
    VkPresentInfoKHR present{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
    present.waitSemaphoreCount = present.swapchainCount = 1;
    present.pWaitSemaphores = &drawn_[index];
    present.pSwapchains = &swapchain_;
    present.pImageIndices = &index;
    const VkResult shown = or_lost("vkQueuePresentKHR", vkQueuePresentKHR(queue_, &present));
    if (shown == VK_ERROR_OUT_OF_DATE_KHR || shown == VK_SUBOPTIMAL_KHR) {
      window_width_ = 0;  // built anew for the next frame
      return {};
    }
    return checked(shown, "vkQueuePresentKHR");
  }
  return {};
}

void Swapchain::record(VkImage target) {
  picture_->record_upload(commands_);
  record_transition(commands_, target, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 0,
                    VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
  const Rectangle place = place_of_frame(picture_->width(), picture_->height(), extent_.width, extent_.height);
  if (place.width != extent_.width || place.height != extent_.height) {
    const VkClearColorValue black{{0, 0, 0, 1}};
    const VkImageSubresourceRange whole{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdClearColorImage(commands_, target, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &black, 1, &whole);
    record_transition(commands_, target, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                      VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                      VK_PIPELINE_STAGE_TRANSFER_BIT);
  }
  const bool unscaled = place.width == picture_->width() && place.height == picture_->height();
  VkImageBlit blit{};
  blit.srcSubresource = blit.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  blit.srcOffsets[1] = {static_cast<int32_t>(picture_->width()), static_cast<int32_t>(picture_->height()), 1};
  blit.dstOffsets[0] = {place.x, place.y, 0};
  blit.dstOffsets[1] = {place.x + static_cast<int32_t>(place.width), place.y + static_cast<int32_t>(place.height), 1};
  vkCmdBlitImage(commands_, picture_->image(), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, target,
                 VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &blit, unscaled ? VK_FILTER_NEAREST : VK_FILTER_LINEAR);
  record_transition(commands_, target, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                    VK_ACCESS_TRANSFER_WRITE_BIT, 0, VK_PIPELINE_STAGE_TRANSFER_BIT,
                    VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
}

}  // namespace orrery::present
