// Which lane layout a dispatch gets on this device, and what the translator is told of the device.
#pragma once

#include <expected>
#include <functional>
#include <string>

#include "gpu-service/dispatch/launch_geometry.hpp"
#include "gpu-service/shader/translate.hpp"
#include "gpu-service/vulkan/facts.hpp"

namespace orrery::dispatch {

shader::HostFeatures host_features(const vulkan::DeviceFacts& facts);

// The gate's answer (shader/lanes/lane_gate.hpp) for this launch. `needs` is asked for only where the answer depends on
// it: where the subgroup's width is of no use. The reason when the group's waves do not fit into one workgroup at all.
std::expected<shader::LaneChoice, std::string> choose_layout(const LaunchGeometry& geometry,
                                                             const vulkan::DeviceFacts& facts,
                                                             const std::function<shader::ProgramNeeds()>& needs,
                                                             shader::LayoutWish wish = shader::LayoutWish::none);

// What ORRERY_LAYOUT asks for: per-lane, exchange or whole-wave; anything else is ignored with a log line.
shader::LayoutWish layout_wish_of_environment();

}  // namespace orrery::dispatch
