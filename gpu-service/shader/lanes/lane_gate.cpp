#include "gpu-service/shader/lanes/lane_gate.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <vector>

namespace orrery::shader {

std::string LaneLayout::text() const {
  if (whole_wave()) return "whole wave";
  const std::string lanes = k == 1 ? "per lane" : fmt::format("{} lanes an invocation", k);
  switch (exchange) {
    case LaneExchange::subgroup:
      return fmt::format("{}, subgroups of {}", lanes, subgroup);
    case LaneExchange::workgroup:
      return lanes + ", workgroup memory";
    case LaneExchange::none:
      return lanes + ", no exchange";
  }
  return lanes;
}

bool waves_start_full(uint32_t wave, const GroupShape& group) { return !group.partial && group.threads() % wave == 0; }

uint32_t exchange_bytes(const LaneLayout& layout, const ProgramNeeds& needs) {
  if (layout.exchange != LaneExchange::workgroup || layout.whole_wave()) return 0;
  // A value of up to 64 bits of each lane, and a mask.
  return (needs.lane_values ? layout.wave * 8 : 0) + 8;
}

LdsHome lds_home(const LaneLayout& layout, const ProgramNeeds& needs, const GroupShape& group, const HostLanes& host) {
  if (group.lds_bytes + exchange_bytes(layout, needs) > host.workgroup_memory) return LdsHome::memory;
  if (!needs.wide_lds_atomics) return LdsHome::workgroup;
  // Views of workgroup memory all begin at its first byte, where the exchange would lie too.
  const bool views = host.shared_int64_atomics && host.workgroup_views && exchange_bytes(layout, needs) == 0;
  return views ? LdsHome::views : LdsHome::memory;
}

std::string why_not(const LaneLayout& layout, const ProgramNeeds& needs, const GroupShape& group,
                    const HostLanes& host) {
  const uint32_t wave = layout.wave, waves = group.waves(wave);
  if ((wave != 32 && wave != 64) || !std::has_single_bit(layout.k) || layout.k > wave ||
      layout.k * (layout.whole_wave() ? 1 : layout.subgroup) != (layout.whole_wave() ? layout.k : wave)) {
    return fmt::format("lane layout of {} x {} lanes does not make a wave of {}", layout.k, layout.subgroup, wave);
  }
  if (waves * layout.invocations() > host.max_invocations) {
    return fmt::format("a group of {} waves needs {} invocations, the device allows {}", waves,
                       waves * layout.invocations(), host.max_invocations);
  }
  if (needs.wide_lds_atomics && lds_home(layout, needs, group, host) == LdsHome::memory && !host.buffer_int64_atomics) {
    return "64-bit LDS atomics, which the device has neither in workgroup memory nor in buffers";
  }
  if (layout.whole_wave()) return {};
  switch (layout.exchange) {
    case LaneExchange::subgroup:
      if (!host.width_known()) return "the subgroup's width is not known";
      if (layout.subgroup < host.min_subgroup || layout.subgroup > host.max_subgroup) {
        return fmt::format("subgroups of {}; the device has {} to {}", layout.subgroup, host.min_subgroup,
                           host.max_subgroup);
      }
      if (layout.k > kMostLanesPerInvocation) {
        return fmt::format("{} lanes an invocation; {} at most", layout.k, kMostLanesPerInvocation);
      }
      if (host.max_subgroups != 0 && waves > host.max_subgroups) {
        return fmt::format("a group of {} waves; the device allows {} subgroups", waves, host.max_subgroups);
      }
      return {};
    case LaneExchange::workgroup:
      if (layout.k != 1) return "through workgroup memory each invocation holds one lane";
      if (waves > 1) {
        return fmt::format("a group of {} waves: a barrier in one wave's branch would not be met by the others", waves);
      }
      if (exchange_bytes(layout, needs) > host.workgroup_memory) {
        return fmt::format("{} bytes of the exchange; the device has {} of workgroup memory",
                           exchange_bytes(layout, needs), host.workgroup_memory);
      }
      return {};
    case LaneExchange::none:
      if (layout.k != 1) return "without an exchange each invocation holds one lane";
      if (needs.exchange()) return "needs of its wave: " + needs.text();
      return {};
  }
  return {};
}

std::optional<LayoutWish> layout_wish(std::string_view text) {
  if (text.empty() || text == "auto") return LayoutWish::none;
  if (text == "per-lane") return LayoutWish::per_lane;
  if (text == "exchange") return LayoutWish::exchange;
  if (text == "whole-wave") return LayoutWish::whole_wave;
  return std::nullopt;
}

std::expected<LaneChoice, std::string> choose_lanes(uint32_t wave, const ProgramNeeds& needs, const GroupShape& group,
                                                    const HostLanes& host, LayoutWish wish) {
  LaneChoice choice;
  choice.constant_seed = waves_start_full(wave, group);
  std::vector<LaneLayout> candidates;
  const auto by_subgroup = [&] {
    if (host.width_known() && host.min_subgroup <= wave) {
      candidates.push_back(subgroup_layout(wave, std::min(wave, host.max_subgroup)));
    }
  };
  switch (wish) {
    case LayoutWish::none:
      break;
    case LayoutWish::per_lane:
      by_subgroup();
      break;
    case LayoutWish::exchange:
      candidates.push_back(workgroup_layout(wave));
      break;
    case LayoutWish::whole_wave:
      candidates.push_back(whole_wave_layout(wave));
      break;
  }
  const size_t wished = candidates.size();
  by_subgroup();
  candidates.push_back(separate_layout(wave));
  candidates.push_back(workgroup_layout(wave));
  candidates.push_back(whole_wave_layout(wave));
  std::vector<std::string> reasons;
  if (!host.width_known()) {
    reasons.emplace_back("the subgroup's width is not known");
  } else if (host.min_subgroup > wave) {
    reasons.push_back(fmt::format("a wave of {} on subgroups of at least {}", wave, host.min_subgroup));
  }
  for (size_t n = 0; n < candidates.size(); ++n) {
    std::string reason = why_not(candidates[n], needs, group, host);
    if (!reason.empty()) {
      if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(std::move(reason));
      continue;
    }
    choice.layout = candidates[n];
    const bool refused_wish = n >= wished && wished != 0;
    if (refused_wish || (choice.layout.whole_wave() && wish != LayoutWish::whole_wave)) {
      choice.reason = fmt::format("{}", fmt::join(reasons, "; "));
    }
    return choice;
  }
  return std::unexpected(fmt::format("{}", fmt::join(reasons, "; ")));
}

}  // namespace orrery::shader
