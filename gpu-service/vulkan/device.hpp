// The opened device: one queue, the functions of its extensions, its facts, the pipeline cache.
#pragma once

#include <vulkan/vulkan_core.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gpu-service/vulkan/device_clock.hpp"
#include "gpu-service/vulkan/facts.hpp"
#include "gpu-service/vulkan/instance.hpp"
#include "gpu-service/vulkan/physical_device.hpp"
#include "shared/error.hpp"

namespace orrery::vulkan {

class DiskPipelineCache;

struct DeviceOptions {
  DeviceChoice choice;
  std::vector<std::string> instance_extensions;  // what the window system needs
  bool validation = validation_asked_for();
  // Where the pipeline cache is kept. Nothing: $XDG_CACHE_HOME/orrery or ~/.cache/orrery; empty: nowhere.
  std::optional<std::string> cache_directory;
};

class Device {
 public:
  // Errors: no_device (which names what is missing), usage (see Instance::create).
  static Result<std::unique_ptr<Device>> open(const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceFacts& facts() const { return facts_; }
  Instance& instance() const { return *instance_; }
  VkPhysicalDevice physical() const { return physical_; }
  VkDevice handle() const { return device_; }
  VkQueue queue() const { return queue_; }  // used by one thread at a time: the service's
  uint32_t queue_family() const { return queue_family_; }
  DiskPipelineCache& pipeline_cache() const { return *pipeline_cache_; }

  // The device works on something that does not end: its destructor then destroys nothing.
  void abandon() const { abandoned_ = true; }

  // The first memory type of `allowed` (a bit mask) that has all of `flags`.
  std::optional<uint32_t> memory_type(uint32_t allowed, VkMemoryPropertyFlags flags) const;
  void name(VkObjectType type, uint64_t object, std::string_view text) const;
  // Memory types that can hold an import of host memory at `pointer`; 0: none.
  uint32_t importable_types(void* pointer) const;
  // The device's clock and CLOCK_MONOTONIC read together; nothing where the device does not offer that.
  std::optional<ClockPair> clocks() const;
  // The error of a failed call; a lost device is described by VK_EXT_device_fault where there is one.
  [[nodiscard]] std::unexpected<Error> error(VkResult result, std::string_view call) const;

 private:
  Device() = default;
  Result<void> create_device();
  void find_clocks();

  std::unique_ptr<Instance> instance_;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  DeviceFacts facts_;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t queue_family_ = 0;
  VkPhysicalDeviceMemoryProperties memory_{};
  PFN_vkSetDebugUtilsObjectNameEXT set_name_ = nullptr;
  PFN_vkGetMemoryHostPointerPropertiesEXT host_pointer_properties_ = nullptr;
  PFN_vkGetDeviceFaultInfoEXT fault_info_ = nullptr;
  PFN_vkGetCalibratedTimestampsEXT read_clocks_ = nullptr;
  std::unique_ptr<DiskPipelineCache> pipeline_cache_;
  mutable bool abandoned_ = false;
};

}  // namespace orrery::vulkan
