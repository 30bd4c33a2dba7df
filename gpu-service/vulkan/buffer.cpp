#include "gpu-service/vulkan/buffer.hpp"

#include <array>
#include <utility>

#include "gpu-service/vulkan/device.hpp"
#include "gpu-service/vulkan/vulkan_result.hpp"

namespace orrery::vulkan {
namespace {

constexpr VkMemoryPropertyFlags kHost = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

// Wanted properties, best first.
std::array<VkMemoryPropertyFlags, 2> preferences(BufferPlace place) {
  switch (place) {
    case BufferPlace::upload:
      return {kHost | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, kHost};
    case BufferPlace::shared:
      return {kHost | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, kHost};
    case BufferPlace::device:
      break;
  }
  return {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
}

}  // namespace

Result<void> Buffer::make(const Device& device, Bytes size, bool external, VkMemoryRequirements& needs) {
  if (size.value == 0 || size.value > device.facts().max_buffer) {
    return fail(ExitCode::internal, "a buffer of {} bytes; the device allows 1 to {}", size.value,
                device.facts().max_buffer);
  }
  device_ = device.handle();
  size_ = size;
  VkExternalMemoryBufferCreateInfo host{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  host.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  if (external) info.pNext = &host;
  info.size = size.value;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
               VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  if (const VkResult result = vkCreateBuffer(device_, &info, nullptr, &handle_); result != VK_SUCCESS) {
    return device.error(result, "vkCreateBuffer");
  }
  vkGetBufferMemoryRequirements(device_, handle_, &needs);
  return {};
}

Result<void> Buffer::bind(const Device& device, const VkMemoryAllocateInfo& allocation, std::string_view name) {
  if (const VkResult result = vkAllocateMemory(device_, &allocation, nullptr, &memory_); result != VK_SUCCESS) {
    return device.error(result, "vkAllocateMemory");
  }
  if (const VkResult result = vkBindBufferMemory(device_, handle_, memory_, 0); result != VK_SUCCESS) {
    return device.error(result, "vkBindBufferMemory");
  }
  VkBufferDeviceAddressInfo asked{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  asked.buffer = handle_;
  address_ = {vkGetBufferDeviceAddress(device_, &asked)};
  device.name(VK_OBJECT_TYPE_BUFFER, reinterpret_cast<uint64_t>(handle_), name);
  return {};
}

Result<Buffer> Buffer::create(const Device& device, Bytes size, BufferPlace place, std::string_view name) {
  Buffer buffer;
  VkMemoryRequirements needs{};
  ORRERY_TRY(buffer.make(device, size, false, needs));
  std::optional<uint32_t> type;
  for (const auto flags : preferences(place)) {
    if (!type) type = device.memory_type(needs.memoryTypeBits, flags);
  }
  if (!type) return fail(ExitCode::internal, "the device has no memory of the kind that {} needs", name);
  VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.pNext = &flags;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = *type;
  ORRERY_TRY(buffer.bind(device, allocation, name));
  if (place != BufferPlace::device) {
    void* pointer = nullptr;
    if (const VkResult result = vkMapMemory(buffer.device_, buffer.memory_, 0, VK_WHOLE_SIZE, 0, &pointer);
        result != VK_SUCCESS) {
      return device.error(result, "vkMapMemory");
    }
    buffer.mapped_ = {static_cast<std::byte*>(pointer), size.value};
  }
  return buffer;
}

Result<Buffer> Buffer::import_host(const Device& device, std::span<std::byte> host, std::string_view name) {
  const uint64_t alignment = device.facts().import_alignment;
  if (alignment == 0) return fail(ExitCode::internal, "the device can't import host memory");
  if (reinterpret_cast<uintptr_t>(host.data()) % alignment != 0 || host.size() % alignment != 0) {
    return fail(ExitCode::internal, "host memory to import is not aligned to {} bytes", alignment);
  }
  Buffer buffer;
  VkMemoryRequirements needs{};
  ORRERY_TRY(buffer.make(device, {host.size()}, true, needs));
  if (needs.size > host.size()) {
    return fail(ExitCode::internal, "the driver wants {} bytes for {} of host memory", needs.size, host.size());
  }
  const uint32_t allowed = needs.memoryTypeBits & device.importable_types(host.data());
  std::optional<uint32_t> type;
  for (const auto flags : preferences(BufferPlace::shared)) {
    if (!type) type = device.memory_type(allowed, flags);
  }
  if (!type) return fail(ExitCode::internal, "the driver offers no coherent memory type for this host memory");
  VkImportMemoryHostPointerInfoEXT import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT};
  import.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  import.pHostPointer = host.data();
  VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.pNext = &import;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.pNext = &flags;
  allocation.allocationSize = host.size();
  allocation.memoryTypeIndex = *type;
  ORRERY_TRY(buffer.bind(device, allocation, name));
  buffer.mapped_ = host;
  return buffer;
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    reset();
    device_ = std::exchange(other.device_, VK_NULL_HANDLE);
    handle_ = std::exchange(other.handle_, VK_NULL_HANDLE);
    memory_ = std::exchange(other.memory_, VK_NULL_HANDLE);
    address_ = std::exchange(other.address_, {});
    size_ = std::exchange(other.size_, {});
    mapped_ = std::exchange(other.mapped_, {});
  }
  return *this;
}

void Buffer::reset() {
  if (handle_ != VK_NULL_HANDLE) vkDestroyBuffer(device_, handle_, nullptr);
  if (memory_ != VK_NULL_HANDLE) vkFreeMemory(device_, memory_, nullptr);
  handle_ = VK_NULL_HANDLE;
  memory_ = VK_NULL_HANDLE;
}

}  // namespace orrery::vulkan
