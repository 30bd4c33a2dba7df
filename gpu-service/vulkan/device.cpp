#include "gpu-service/vulkan/device.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "gpu-service/vulkan/device_probe.hpp"
#include "gpu-service/vulkan/feature_chain.hpp"
#include "gpu-service/vulkan/pipeline_cache.hpp"
#include "gpu-service/vulkan/vulkan_result.hpp"
#include "shared/injection.hpp"
#include "shared/log.hpp"

namespace orrery::vulkan {
namespace {

// A family with graphics too where there is one: the window presents from the same queue.
std::optional<uint32_t> pick_family(VkPhysicalDevice device) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  for (const VkQueueFlags wanted : {VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT, VK_QUEUE_COMPUTE_BIT + 0}) {
    for (uint32_t i = 0; i < count; ++i) {
      if ((families[i].queueFlags & wanted) == wanted) return i;
    }
  }
  return std::nullopt;
}

void ask_for(FeatureChain& wanted, const DeviceFacts& facts, const FeatureChain& has) {
  wanted.base.features.shaderInt64 = VK_TRUE;
  wanted.base.features.shaderInt16 = VK_TRUE;
  wanted.base.features.fragmentStoresAndAtomics = has.base.features.fragmentStoresAndAtomics;
  wanted.base.features.shaderFloat64 = facts.float64;
  wanted.v11.storageBuffer16BitAccess = VK_TRUE;
  wanted.v11.uniformAndStorageBuffer16BitAccess = has.v11.uniformAndStorageBuffer16BitAccess;
  wanted.v12.bufferDeviceAddress = VK_TRUE;
  wanted.v12.shaderInt8 = VK_TRUE;
  wanted.v12.storageBuffer8BitAccess = VK_TRUE;
  wanted.v12.uniformAndStorageBuffer8BitAccess = has.v12.uniformAndStorageBuffer8BitAccess;
  wanted.v12.shaderFloat16 = facts.float16;
  wanted.v12.shaderBufferInt64Atomics = facts.buffer_int64_atomics;
  wanted.v12.shaderSharedInt64Atomics = facts.shared_int64_atomics;
  wanted.v12.vulkanMemoryModel = facts.memory_model;
  wanted.v12.vulkanMemoryModelDeviceScope = facts.memory_model;
  wanted.v12.shaderSubgroupExtendedTypes = facts.subgroup_extended_types;
  wanted.v12.scalarBlockLayout = facts.scalar_block_layout;
  wanted.v12.timelineSemaphore = has.v12.timelineSemaphore;
  wanted.v12.hostQueryReset = has.v12.hostQueryReset;
  wanted.v13.subgroupSizeControl = VK_TRUE;
  wanted.v13.computeFullSubgroups = VK_TRUE;
  wanted.v13.synchronization2 = has.v13.synchronization2;
  wanted.v13.maintenance4 = has.v13.maintenance4;
}

}  // namespace

Result<std::unique_ptr<Device>> Device::open(const DeviceOptions& options) {
  auto instance = Instance::create({options.instance_extensions, options.validation});
  if (!instance) return std::unexpected(std::move(instance.error()));
  auto all = candidates((*instance)->handle());
  if (!all) return std::unexpected(std::move(all.error()));
  auto chosen = choose(*all, options.choice);
  if (!chosen) return std::unexpected(std::move(chosen.error()));

  std::unique_ptr<Device> device(new Device);
  device->instance_ = std::move(*instance);
  device->physical_ = chosen->handle;
  device->facts_ = std::move(chosen->facts);
  if (auto made = device->create_device(); !made) return forward(std::move(made), "opening " + device->facts_.name);
  device->pipeline_cache_ =
      DiskPipelineCache::load(*device, options.cache_directory ? *options.cache_directory : default_cache_directory());
  auto probe = probe_device(*device);
  if (!probe) return forward(std::move(probe), "running a first shader on " + device->facts_.name);
  device->facts_.fuses_fma = probe->fuses_fma;
  device->facts_.orders_zeros = probe->orders_zeros;
  device->facts_.keeps_denormals = probe->keeps_denormals;
  device->facts_.fma_keeps_denormals = probe->fma_keeps_denormals;
  if (device->facts_.keeps_denormals_unsaid && probe->keeps_denormals) device->facts_.keeps_denormals_of |= 32;
  device->facts_.rounds_halves = probe->rounds_halves;
  device->facts_.rounds_doubles = probe->rounds_doubles;
  device->facts_.loop_limit = probe->loop_limit;
  const DeviceFacts& facts = device->facts_;
  log::info("device {} {} ({}), subgroup {}..{}, {} bytes of workgroup memory, {}{}", facts.index, facts.name,
            facts.driver, facts.min_subgroup_size, facts.max_subgroup_size, facts.workgroup_memory,
            facts.import_alignment != 0 ? "imports host memory" : "no import of host memory",
            facts.fuses_fma ? "" : ", Fma is not fused");
  log::info("found by running: NMin and NMax {}, denormals of floats are {}{}, conversions to halves {}, to floats {}",
            facts.orders_zeros ? "order zeros" : "take zeros for equal", facts.keeps_denormals ? "kept" : "flushed",
            facts.keeps_denormals && !facts.fma_keeps_denormals ? " but by Fma" : "",
            facts.rounds_halves ? "round to even" : "round otherwise",
            facts.rounds_doubles ? "round to even" : "round otherwise");
  if (facts.loop_limit != 0) {
    log::info("this driver ends an invocation's loops after {} rounds in all, without a word", facts.loop_limit);
  }
  return device;
}

Result<void> Device::create_device() {
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory_);
  const auto family = pick_family(physical_);
  if (!family) return fail(ExitCode::no_device, "no compute queue");
  queue_family_ = *family;

  FeatureChain has, wanted;
  vkGetPhysicalDeviceFeatures2(physical_, &has.base);
  ask_for(wanted, facts_, has);
  std::vector<const char*> extensions;
  if (facts_.import_alignment != 0) extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  if (facts_.swapchain && !instance_->window_extensions().empty()) {
    extensions.push_back(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
  } else {
    facts_.swapchain = false;
  }
  if (facts_.calibrated_timestamps) extensions.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
  VkPhysicalDeviceFaultFeaturesEXT fault{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT};
  if (facts_.device_fault) {
    extensions.push_back(VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
    fault.deviceFault = VK_TRUE;
    wanted.v13.pNext = &fault;
  }
  VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR workgroup{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR, wanted.v13.pNext};
  if (facts_.workgroup_views) {
    extensions.push_back(VK_KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_EXTENSION_NAME);
    workgroup.workgroupMemoryExplicitLayout = VK_TRUE;
    wanted.v13.pNext = &workgroup;
  }

  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = queue_family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &wanted.base;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  VkResult result = vkCreateDevice(physical_, &info, nullptr, &device_);
  if (injection::point("vkCreateDevice")) result = VK_ERROR_DEVICE_LOST;
  if (result != VK_SUCCESS) {
    return fail(result == VK_ERROR_DEVICE_LOST ? ExitCode::device_lost : ExitCode::no_device,
                "the driver refused the device: vkCreateDevice: {}", vulkan::name_of(result));
  }
  vkGetDeviceQueue(device_, queue_family_, 0, &queue_);
  if (facts_.import_alignment != 0) {
    host_pointer_properties_ = reinterpret_cast<PFN_vkGetMemoryHostPointerPropertiesEXT>(
        vkGetDeviceProcAddr(device_, "vkGetMemoryHostPointerPropertiesEXT"));
  }
  if (facts_.device_fault) {
    fault_info_ =
        reinterpret_cast<PFN_vkGetDeviceFaultInfoEXT>(vkGetDeviceProcAddr(device_, "vkGetDeviceFaultInfoEXT"));
  }
  find_clocks();
  if (instance_->names_objects()) {
    set_name_ = reinterpret_cast<PFN_vkSetDebugUtilsObjectNameEXT>(
        vkGetInstanceProcAddr(instance_->handle(), "vkSetDebugUtilsObjectNameEXT"));
  }
  return {};
}

void Device::find_clocks() {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
  facts_.timestamp_bits = families.at(queue_family_).timestampValidBits;
  if (!facts_.calibrated_timestamps) return;
  const auto domains_of = reinterpret_cast<PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT>(
      vkGetInstanceProcAddr(instance_->handle(), "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT"));
  count = 0;
  std::vector<VkTimeDomainEXT> domains;
  if (domains_of != nullptr && domains_of(physical_, &count, nullptr) == VK_SUCCESS) {
    domains.resize(count);
    if (domains_of(physical_, &count, domains.data()) != VK_SUCCESS) domains.clear();
  }
  const auto has = [&](VkTimeDomainEXT domain) { return std::ranges::find(domains, domain) != domains.end(); };
  facts_.calibrated_timestamps = has(VK_TIME_DOMAIN_DEVICE_EXT) && has(VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT);
  if (!facts_.calibrated_timestamps) return;
  read_clocks_ =
      reinterpret_cast<PFN_vkGetCalibratedTimestampsEXT>(vkGetDeviceProcAddr(device_, "vkGetCalibratedTimestampsEXT"));
}

std::optional<ClockPair> Device::clocks() const {
  if (read_clocks_ == nullptr) return std::nullopt;
  std::array<VkCalibratedTimestampInfoEXT, 2> wanted{
      {{VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr, VK_TIME_DOMAIN_DEVICE_EXT},
       {VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr, VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT}}};
  std::array<uint64_t, 2> read{};
  uint64_t deviation = 0;
  const VkResult result = read_clocks_(device_, 2, wanted.data(), read.data(), &deviation);
  if (result != VK_SUCCESS) return std::nullopt;
  return ClockPair{read[0], read[1]};
}

std::optional<uint32_t> Device::memory_type(uint32_t allowed, VkMemoryPropertyFlags flags) const {
  for (uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
    if ((allowed >> i & 1) != 0 && (memory_.memoryTypes[i].propertyFlags & flags) == flags) return i;
  }
  return std::nullopt;
}

void Device::name(VkObjectType type, uint64_t object, std::string_view text) const {
  if (set_name_ == nullptr || text.empty()) return;
  const std::string copy(text);
  VkDebugUtilsObjectNameInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
  info.objectType = type;
  info.objectHandle = object;
  info.pObjectName = copy.c_str();
  set_name_(device_, &info);
}

uint32_t Device::importable_types(void* pointer) const {
  if (host_pointer_properties_ == nullptr) return 0;
  VkMemoryHostPointerPropertiesEXT properties{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  const VkResult result =
      host_pointer_properties_(device_, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, pointer, &properties);
  return result == VK_SUCCESS ? properties.memoryTypeBits : 0;
}

std::unexpected<Error> Device::error(VkResult result, std::string_view call) const {
  if (result != VK_ERROR_DEVICE_LOST || fault_info_ == nullptr) return vulkan_error(result, call);
  VkDeviceFaultCountsEXT counts{VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT};
  if (fault_info_(device_, &counts, nullptr) != VK_SUCCESS) return vulkan_error(result, call);
  std::vector<VkDeviceFaultAddressInfoEXT> addresses(counts.addressInfoCount);
  std::vector<VkDeviceFaultVendorInfoEXT> vendor(counts.vendorInfoCount);
  VkDeviceFaultInfoEXT info{VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT};
  info.pAddressInfos = addresses.data();
  info.pVendorInfos = vendor.data();
  counts.vendorBinarySize = 0;
  const VkResult asked = fault_info_(device_, &counts, &info);
  if (asked != VK_SUCCESS && asked != VK_INCOMPLETE) return vulkan_error(result, call);
  std::string text = info.description;
  for (const auto& a : addresses) text += fmt::format("; address {:#x}", a.reportedAddress);
  return fail(ExitCode::internal, "the device was lost ({}): {}", call, text);
}

Device::~Device() {
  if (abandoned_) {
    (void)pipeline_cache_.release();
    (void)instance_.release();
    return;
  }
  if (device_ != VK_NULL_HANDLE) {
    vkDeviceWaitIdle(device_);
    pipeline_cache_.reset();
    vkDestroyDevice(device_, nullptr);
  }
}

}  // namespace orrery::vulkan
