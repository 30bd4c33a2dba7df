#include "gpu-service/dispatch/lane_choice.hpp"

#include <algorithm>
#include <cstdlib>

#include "shared/log.hpp"

namespace orrery::dispatch {

shader::HostFeatures host_features(const vulkan::DeviceFacts& facts) {
  shader::HostFeatures host;
  host.fuses_fma = facts.fuses_fma;
  host.fma_keeps_denormals = facts.fma_keeps_denormals;
  host.rounds_halves = facts.rounds_halves;
  host.orders_zeros = facts.orders_zeros;
  host.float16 = facts.float16;
  host.float64 = facts.float64;
  host.keeps_denormals_of = facts.keeps_denormals_of;
  host.keeps_special_of = facts.keeps_special_of;
  host.int8 = host.int16 = host.int64 = true;  // required when the device is opened
  host.buffer_int64_atomics = facts.buffer_int64_atomics;
  host.shared_int64_atomics = facts.shared_int64_atomics;
  host.workgroup_views = facts.workgroup_views;
  host.workgroup_memory = facts.workgroup_memory;
  host.max_invocations = facts.max_invocations;
  host.min_subgroup = facts.min_subgroup_size;
  host.max_subgroup = facts.max_subgroup_size;
  host.max_subgroups = facts.max_workgroup_subgroups;
  host.loop_limit = facts.loop_limit;
  host.lockstep_subgroups = facts.lockstep_subgroups;
  return host;
}

std::expected<shader::LaneChoice, std::string> choose_layout(const LaunchGeometry& geometry,
                                                             const vulkan::DeviceFacts& facts,
                                                             const std::function<shader::ProgramNeeds()>& needs,
                                                             shader::LayoutWish wish) {
  shader::HostLanes host = shader::host_lanes(host_features(facts));
  host.max_invocations = std::min(host.max_invocations, facts.max_group_size[0]);
  shader::GroupShape group{geometry.group_size, geometry.threads != std::array<uint32_t, 3>{},
                           geometry.workgroup_bytes};
  // A program that needs everything; on most devices its layout is everyone's.
  shader::ProgramNeeds everything;
  everything.votes = everything.masks_whole = everything.lane_values = everything.lockstep = everything.lds =
      everything.barrier = everything.wave_stores = true;
  auto choice = shader::choose_lanes(geometry.wave, everything, group, host, wish);
  if (choice && (choice->layout.exchange == shader::LaneExchange::subgroup || wish != shader::LayoutWish::none)) {
    return choice;
  }
  return shader::choose_lanes(geometry.wave, needs(), group, host, wish);
}

shader::LayoutWish layout_wish_of_environment() {
  const char* text = std::getenv("ORRERY_LAYOUT");
  if (text == nullptr) return shader::LayoutWish::none;
  const auto wish = shader::layout_wish(text);
  if (!wish) log::warn("ORRERY_LAYOUT={}: not per-lane, exchange or whole-wave; it is ignored", text);
  return wish.value_or(shader::LayoutWish::none);
}

}  // namespace orrery::dispatch
