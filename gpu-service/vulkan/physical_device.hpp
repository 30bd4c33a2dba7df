// Physical devices: what each offers, which one is taken, and their list for people and programs.
#pragma once

#include <vulkan/vulkan_core.h>
#include <optional>
#include <string>
#include <vector>

#include "gpu-service/vulkan/facts.hpp"
#include "shared/error.hpp"

namespace orrery::vulkan {

struct Candidate {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceFacts facts;
};

// Every device of the instance, usable or not, in the loader's order.
Result<std::vector<Candidate>> candidates(VkInstance instance);

struct DeviceChoice {
  std::optional<uint32_t> index;  // --gpu N
  bool cpu = false;               // --cpu
};
// --gpu N: that device; --cpu: the first CPU device; else the first usable discrete one, else integrated, virtual,
// other, CPU. Error (no_device) names what each device lacks.
Result<Candidate> choose(const std::vector<Candidate>& all, const DeviceChoice& choice);

// For `orrery devices` and `orrery-gpu --list-devices`. An empty list when no driver is installed.
Result<std::vector<DeviceFacts>> list_devices();
std::string devices_text(const std::vector<DeviceFacts>& devices);
// [{"index":0,"name":"...","driver":"...","type":"cpu","api":"1.3.230","subgroup":[8,8],"usable":true,"missing":[]},
// ...]
std::string devices_json(const std::vector<DeviceFacts>& devices);

}  // namespace orrery::vulkan
