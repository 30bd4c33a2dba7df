// Which lane layout a dispatch gets on this device, and what the translator is told of the device.
#pragma once

#include <expected>
#include <string>

#include "gpu-service/dispatch/launch_geometry.hpp"
#include "gpu-service/shader/translate.hpp"
#include "gpu-service/vulkan/facts.hpp"

namespace orrery::dispatch {

shader::HostFeatures host_features(const vulkan::DeviceFacts& facts);

// The widest subgroup that is no wider than the wave: k = wave / subgroup. The reason when the device has none, or when
// the group's waves do not fit into one of its workgroups.
std::expected<shader::LaneLayout, std::string> choose_layout(const LaunchGeometry& geometry,
                                                             const vulkan::DeviceFacts& facts);

}  // namespace orrery::dispatch
