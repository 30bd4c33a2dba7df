// The launch's memory on the device: a pristine copy, and the one that kernels work on, either device-local or imported
// host memory. Ours and the GLSL twin work on the same buffer.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gpu-service/vulkan/buffer.hpp"
#include "shared/error.hpp"

namespace orrery::bench {

enum class MemoryPlace : uint8_t { device, imported };

// Records and runs commands, one at a time.
class Commands {
 public:
  static Result<std::unique_ptr<Commands>> create(const vulkan::Device& device);
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;
  Result<void> run(const std::function<void(VkCommandBuffer)>& record);
  // The same between two timestamps: `before`, then `record`. Answers nanoseconds.
  Result<double> time(const std::function<void(VkCommandBuffer)>& before,
                      const std::function<void(VkCommandBuffer)>& record);

 private:
  explicit Commands(const vulkan::Device& device) : device_(device) {}
  const vulkan::Device& device_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  VkQueryPool queries_ = VK_NULL_HANDLE;
};

class DeviceBlock {
 public:
  static Result<std::unique_ptr<DeviceBlock>> create(const vulkan::Device& device, Commands& commands, uint64_t size,
                                                     MemoryPlace place);
  ~DeviceBlock();
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;

  Result<void> upload(std::span<const std::byte> bytes);  // to the pristine copy
  Result<void> download(std::span<std::byte> out);        // from the working copy
  // Makes the working copy pristine, with barriers around.
  void restore(VkCommandBuffer commands) const;

  const vulkan::Buffer& work() const { return work_; }
  // Level 1 of a page table that shows the working copy at GuestRegion::kAddress.
  DeviceAddress page_table() const { return level1_.address(); }

 private:
  DeviceBlock(const vulkan::Device& device, Commands& commands) : device_(device), commands_(commands) {}
  Result<void> make_page_table();

  const vulkan::Device& device_;
  Commands& commands_;
  std::span<std::byte> host_;  // what is imported
  vulkan::Buffer pristine_, work_, staging_, level1_, level2_;
};

}  // namespace orrery::bench
