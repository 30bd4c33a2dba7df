// A buffer with its memory and device address. Everything the device reads or writes lies in one of these.
#pragma once

#include <vulkan/vulkan_core.h>
#include <cstddef>
#include <span>
#include <string_view>

#include "shared/error.hpp"
#include "shared/quantity.hpp"

namespace orrery::vulkan {

class Device;

enum class BufferPlace : uint8_t {
  device,  // device-local; not mapped
  upload,  // host-visible and coherent, device-local where the device has such memory; mapped
  shared,  // host-visible, coherent and cached where there is such memory; mapped: for what the host reads
};

class Buffer {
 public:
  Buffer() = default;
  // Usable as storage buffer, through its device address, and in transfers. The contents are undefined.
  static Result<Buffer> create(const Device& device, Bytes size, BufferPlace place, std::string_view name);
  // Host memory as a buffer (VK_EXT_external_memory_host), zero-copy. `host` must be aligned to
  // facts().import_alignment at both ends and stay mapped while the buffer lives. Error when the driver refuses.
  static Result<Buffer> import_host(const Device& device, std::span<std::byte> host, std::string_view name);

  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { reset(); }

  explicit operator bool() const { return handle_ != VK_NULL_HANDLE; }
  VkBuffer handle() const { return handle_; }
  DeviceAddress address() const { return address_; }
  Bytes size() const { return size_; }
  std::span<std::byte> mapped() const { return mapped_; }  // empty when not mapped; the host memory when imported

 private:
  Result<void> make(const Device& device, Bytes size, bool external, VkMemoryRequirements& needs);
  Result<void> bind(const Device& device, const VkMemoryAllocateInfo& allocation, std::string_view name);
  void reset();

  VkDevice device_ = VK_NULL_HANDLE;
  VkBuffer handle_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  DeviceAddress address_;
  Bytes size_;
  std::span<std::byte> mapped_;
};

}  // namespace orrery::vulkan
