#include "gpu-service/vulkan/physical_device.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

#include "gpu-service/vulkan/feature_chain.hpp"
#include "gpu-service/vulkan/vulkan_result.hpp"

namespace orrery::vulkan {
namespace {

DeviceType type_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return DeviceType::discrete;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return DeviceType::integrated;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return DeviceType::virtual_gpu;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return DeviceType::cpu;
    default:
      return DeviceType::other;
  }
}

std::vector<VkExtensionProperties> extensions_of(VkPhysicalDevice device) {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data());
  extensions.resize(count);
  return extensions;
}

template <class Array>
void copy_array(Array& out, const void* in) {
  std::memcpy(out.data(), in, sizeof(out));
}

uint32_t widths(VkBool32 half, VkBool32 single, VkBool32 twice) {
  return (half ? 16u : 0u) | (single ? 32u : 0u) | (twice ? 64u : 0u);
}

// Without independence between widths all have the same mode: those that can't have it take it from the others.
uint32_t preserved_denormals(const VkPhysicalDeviceVulkan12Properties& v12) {
  const uint32_t all = widths(true, true, true);
  const uint32_t offered =
      widths(v12.shaderDenormPreserveFloat16, v12.shaderDenormPreserveFloat32, v12.shaderDenormPreserveFloat64);
  switch (v12.denormBehaviorIndependence) {
    case VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL:
      return offered;
    case VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY:
      return (offered & (16 | 64)) == (16 | 64) ? offered : offered & 32;
    default:
      return offered == all ? all : 0;
  }
}

void read_properties(VkPhysicalDevice device, DeviceFacts& facts, bool can_import) {
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDeviceVulkan13Properties v13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES};
  VkPhysicalDeviceVulkan12Properties v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceVulkan11Properties v11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES};
  VkPhysicalDeviceProperties2 p{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  p.pNext = &v11;
  v11.pNext = &v12;
  v12.pNext = &v13;
  if (can_import) v13.pNext = &host;
  vkGetPhysicalDeviceProperties2(device, &p);
  const VkPhysicalDeviceLimits& limits = p.properties.limits;
  facts.driver = fmt::format("{} {}", v12.driverName, v12.driverInfo);
  facts.lockstep_subgroups = v12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
  facts.driver_version = p.properties.driverVersion;
  copy_array(facts.device_uuid, v11.deviceUUID);
  copy_array(facts.driver_uuid, v11.driverUUID);
  copy_array(facts.pipeline_cache_uuid, p.properties.pipelineCacheUUID);
  facts.subgroup_size = v11.subgroupSize;
  facts.min_subgroup_size = v13.minSubgroupSize;
  facts.max_subgroup_size = v13.maxSubgroupSize;
  facts.max_workgroup_subgroups = v13.maxComputeWorkgroupSubgroups;
  copy_array(facts.max_groups, limits.maxComputeWorkGroupCount);
  copy_array(facts.max_group_size, limits.maxComputeWorkGroupSize);
  facts.max_invocations = limits.maxComputeWorkGroupInvocations;
  facts.workgroup_memory = limits.maxComputeSharedMemorySize;
  facts.max_storage_range = limits.maxStorageBufferRange;
  facts.storage_alignment = std::max<uint64_t>(limits.minStorageBufferOffsetAlignment, 1);
  facts.max_storage_buffers = std::min(
      {limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers, limits.maxPerStageResources});
  facts.max_buffer = std::min(v11.maxMemoryAllocationSize, v13.maxBufferSize);
  facts.max_allocations = limits.maxMemoryAllocationCount;
  facts.import_alignment = can_import ? host.minImportedHostPointerAlignment : 0;
  facts.timestamp_period_ns = limits.timestampPeriod;
  facts.keeps_denormals_of = preserved_denormals(v12);
  facts.keeps_denormals_unsaid =
      v12.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY && (facts.keeps_denormals_of & 32) == 0;
  facts.keeps_special_of = widths(v12.shaderSignedZeroInfNanPreserveFloat16, v12.shaderSignedZeroInfNanPreserveFloat32,
                                  v12.shaderSignedZeroInfNanPreserveFloat64);

  constexpr VkSubgroupFeatureFlags kOperations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
                                                 VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT |
                                                 VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
  if ((v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) == 0 ||
      (v11.subgroupSupportedOperations & kOperations) != kOperations) {
    facts.missing.emplace_back("subgroup vote, ballot, shuffle and arithmetic in compute shaders");
  }
  if ((v13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) == 0) {
    facts.missing.emplace_back("a required subgroup size in compute shaders");
  }
  if (limits.maxPushConstantsSize < 128) facts.missing.emplace_back("128 bytes of push constants");
}

void read_features(VkPhysicalDevice device, DeviceFacts& facts, bool has_workgroup_layout) {
  FeatureChain has;
  VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR workgroup{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR};
  if (has_workgroup_layout) has.v13.pNext = &workgroup;
  vkGetPhysicalDeviceFeatures2(device, &has.base);
  const auto require = [&](VkBool32 present, const char* name) {
    if (!present) facts.missing.emplace_back(name);
  };
  require(has.v12.bufferDeviceAddress, "bufferDeviceAddress");
  require(has.base.features.shaderInt64, "shaderInt64");
  require(has.base.features.shaderInt16, "shaderInt16");
  require(has.v12.shaderInt8, "shaderInt8");
  require(has.v11.storageBuffer16BitAccess, "storageBuffer16BitAccess");
  require(has.v12.storageBuffer8BitAccess, "storageBuffer8BitAccess");
  require(has.v13.subgroupSizeControl, "subgroupSizeControl");
  require(has.v13.computeFullSubgroups, "computeFullSubgroups");
  facts.float16 = has.v12.shaderFloat16;
  facts.float64 = has.base.features.shaderFloat64;
  facts.buffer_int64_atomics = has.v12.shaderBufferInt64Atomics;
  facts.shared_int64_atomics = has.v12.shaderSharedInt64Atomics;
  facts.workgroup_views = workgroup.workgroupMemoryExplicitLayout;
  facts.memory_model = has.v12.vulkanMemoryModel && has.v12.vulkanMemoryModelDeviceScope;
  facts.subgroup_extended_types = has.v12.shaderSubgroupExtendedTypes;
  facts.scalar_block_layout = has.v12.scalarBlockLayout;
}

void read_queues(VkPhysicalDevice device, DeviceFacts& facts) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  const bool compute = std::any_of(families.begin(), families.end(),
                                   [](const auto& f) { return (f.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0; });
  if (!compute) facts.missing.emplace_back("a compute queue");
}

Candidate probe(VkPhysicalDevice device, uint32_t index) {
  Candidate candidate{device, {}};
  DeviceFacts& facts = candidate.facts;
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(device, &properties);
  facts.index = index;
  facts.name = properties.deviceName;
  facts.type = type_of(properties.deviceType);
  facts.api_version = properties.apiVersion;
  facts.vendor_id = properties.vendorID;
  facts.device_id = properties.deviceID;
  if (properties.apiVersion < VK_API_VERSION_1_3) {
    // The structures below belong to 1.3; an older device can't be asked.
    facts.missing.emplace_back("Vulkan 1.3");
    return candidate;
  }
  const auto extensions = extensions_of(device);
  const auto has = [&](const char* name) {
    return std::any_of(extensions.begin(), extensions.end(),
                       [&](const auto& e) { return !std::strcmp(e.extensionName, name); });
  };
  facts.swapchain = has(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
  facts.device_fault = has(VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
  facts.calibrated_timestamps = has(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
  read_properties(device, facts, has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME));
  read_features(device, facts, has(VK_KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_EXTENSION_NAME));
  read_queues(device, facts);
  return candidate;
}

}  // namespace

Result<std::vector<Candidate>> candidates(VkInstance instance) {
  uint32_t count = 0;
  ORRERY_TRY(checked(vkEnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices"));
  std::vector<VkPhysicalDevice> devices(count);
  const VkResult result = vkEnumeratePhysicalDevices(instance, &count, devices.data());
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) return vulkan_error(result, "vkEnumeratePhysicalDevices");
  std::vector<Candidate> all;
  for (uint32_t i = 0; i < count; ++i) all.push_back(probe(devices[i], i));
  return all;
}

Result<Candidate> choose(const std::vector<Candidate>& all, const DeviceChoice& choice) {
  const auto lacks = [](const DeviceFacts& facts) {
    return fmt::format("{} ({}) lacks {}", facts.index, facts.name, fmt::join(facts.missing, ", "));
  };
  if (choice.index) {
    if (*choice.index >= all.size()) {
      return fail(ExitCode::no_device, "there is no Vulkan device {}; `orrery devices` lists the {} there are",
                  *choice.index, all.size());
    }
    const Candidate& wanted = all[*choice.index];
    if (!wanted.facts.usable()) return fail(ExitCode::no_device, "device {}", lacks(wanted.facts));
    return wanted;
  }
  const Candidate* best = nullptr;
  std::vector<std::string> reasons;
  for (const Candidate& candidate : all) {
    if (choice.cpu && candidate.facts.type != DeviceType::cpu) continue;
    if (!candidate.facts.usable()) {
      reasons.push_back(lacks(candidate.facts));
    } else if (best == nullptr || candidate.facts.type < best->facts.type) {
      best = &candidate;
    }
  }
  if (best != nullptr) return *best;
  if (reasons.empty()) {
    return fail(
        ExitCode::no_device, "no Vulkan {} device was found; install {}", choice.cpu ? "CPU" : "",
        choice.cpu ? "mesa-vulkan-drivers (lavapipe)" : "your GPU's Vulkan driver or mesa-vulkan-drivers (lavapipe)");
  }
  return fail(ExitCode::no_device, "no Vulkan device can be used: device {}", fmt::join(reasons, "; device "));
}

}  // namespace orrery::vulkan
