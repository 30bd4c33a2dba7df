#include "gpu-service/dispatch/lane_choice.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace orrery::dispatch {

shader::HostFeatures host_features(const vulkan::DeviceFacts& facts) {
  shader::HostFeatures host;
  host.fuses_fma = facts.fuses_fma;
  host.float16 = facts.float16;
  host.float64 = facts.float64;
  host.int8 = host.int16 = host.int64 = true;  // required when the device is opened
  host.int64_atomics = facts.buffer_int64_atomics && facts.shared_int64_atomics;
  host.workgroup_memory = facts.workgroup_memory;
  host.max_invocations = facts.max_invocations;
  host.loop_limit = facts.loop_limit;
  host.lockstep_subgroups = facts.lockstep_subgroups;
  return host;
}

std::expected<shader::LaneLayout, std::string> choose_layout(const LaunchGeometry& geometry,
                                                             const vulkan::DeviceFacts& facts) {
  const uint32_t subgroup = std::min(geometry.wave, facts.max_subgroup_size);
  if (subgroup < facts.min_subgroup_size || subgroup == 0) {
    return std::unexpected(
        fmt::format("a wave of {} lanes on subgroups of at least {}", geometry.wave, facts.min_subgroup_size));
  }
  const uint32_t waves = geometry.waves_per_group();
  const uint32_t invocations = waves * subgroup;
  if (invocations > facts.max_invocations || invocations > facts.max_group_size[0] ||
      waves > facts.max_workgroup_subgroups) {
    return std::unexpected(fmt::format("a group of {} waves, {} invocations; the device allows {} and {}", waves,
                                       invocations, facts.max_workgroup_subgroups,
                                       std::min(facts.max_invocations, facts.max_group_size[0])));
  }
  return shader::LaneLayout{geometry.wave, subgroup, geometry.wave / subgroup};
}

}  // namespace orrery::dispatch
