// What is known about a Vulkan device: names, limits and the features that this service uses. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery::vulkan {

enum class DeviceType : uint8_t { discrete, integrated, virtual_gpu, other, cpu };
const char* name_of(DeviceType type);

struct DeviceFacts {
  uint32_t index = 0;  // in the order the loader enumerates: what --gpu takes
  std::string name;
  std::string driver;  // name and version in the driver's words
  DeviceType type = DeviceType::other;
  uint32_t api_version = 0;  // VK_MAKE_API_VERSION
  uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
  std::array<uint8_t, 16> device_uuid{}, driver_uuid{}, pipeline_cache_uuid{};

  // Subgroups in compute. Every width from min to max (powers of two) can be required.
  uint32_t subgroup_size = 0, min_subgroup_size = 0, max_subgroup_size = 0;
  uint32_t max_workgroup_subgroups = 0;

  // Limits.
  std::array<uint32_t, 3> max_groups{};      // per dimension of one dispatch
  std::array<uint32_t, 3> max_group_size{};  // threads
  uint32_t max_invocations = 0;
  uint32_t workgroup_memory = 0;     // bytes
  uint64_t max_storage_range = 0;    // bytes one storage-buffer binding can show
  uint64_t storage_alignment = 1;    // bytes, of a binding's offset
  uint32_t max_storage_buffers = 0;  // bindings of one compute pipeline
  uint64_t max_buffer = 0;           // bytes of one buffer and its allocation
  uint32_t max_allocations = 0;
  uint64_t import_alignment = 0;  // bytes, of host pointers and sizes; 0: host memory can't be imported
  double timestamp_period_ns = 0;
  uint32_t timestamp_bits = 0;  // valid ones, on the queue that is used; 0: it writes no time stamps

  // Optional features, enabled when present.
  bool float16 = false, float64 = false;
  bool buffer_int64_atomics = false, shared_int64_atomics = false;
  bool workgroup_views = false;  // workgroupMemoryExplicitLayout
  bool memory_model = false;     // vulkanMemoryModel and its device scope
  // Widths of floats (16, 32, 64 or'ed) of which a module may demand that denormals live, and that zeros keep their
  // sign and infinities and NaNs are not assumed away (VkPhysicalDeviceFloatControlsProperties).
  uint32_t keeps_denormals_of = 0, keeps_special_of = 0;
  // The driver says that it can't keep denormals of 32 bits (its Fma flushes them) and keeps the others' when a module
  // demands it: NVIDIA's. Whether it does is found by running; if so, 32 is in keeps_denormals_of.
  bool keeps_denormals_unsaid = false;
  bool subgroup_extended_types = false, scalar_block_layout = false;
  bool device_fault = false, swapchain = false;
  bool calibrated_timestamps = false;  // its clock can be read together with CLOCK_MONOTONIC
  // Probed by running a shader when the device is opened, see device_probe.hpp.
  bool fuses_fma = false, orders_zeros = false, keeps_denormals = false;
  bool fma_keeps_denormals = false;  // Fma of floats, in a module that demands it
  bool rounds_halves = true, rounds_doubles = true;
  uint32_t loop_limit = 0;

  // A subgroup is one vector of the CPU: its lanes run in lockstep (lavapipe).
  bool lockstep_subgroups = false;

  // Required and absent, by name; empty: usable.
  std::vector<std::string> missing;
  bool usable() const { return missing.empty(); }
};

}  // namespace orrery::vulkan
