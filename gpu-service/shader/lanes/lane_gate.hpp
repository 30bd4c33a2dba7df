// The one gate between a program and the lane layouts: who chooses a layout and who emits code for one both ask
// why_not(). Knows no Vulkan.
#pragma once

#include <array>
#include <expected>
#include <optional>

#include "gpu-service/shader/lanes/lane_layout.hpp"
#include "gpu-service/shader/lanes/program_needs.hpp"

namespace orrery::shader {

// What the host offers lanes.
struct HostLanes {
  // Subgroup widths that can be required, powers of two; 0: the width is not known.
  uint32_t min_subgroup = 0, max_subgroup = 0;
  bool full_subgroups = true;  // can be required; otherwise as if the width were not known
  uint32_t max_invocations = 1024;
  uint32_t max_subgroups = 0;         // of a workgroup; 0: no limit of its own
  uint32_t workgroup_memory = 32768;  // bytes
  bool shared_int64_atomics = true, buffer_int64_atomics = true;
  bool workgroup_views = false;  // workgroup memory can be seen as 32 and as 64 bits

  bool width_known() const { return full_subgroups && max_subgroup != 0; }
};

struct GroupShape {
  std::array<uint32_t, 3> size{1, 1, 1};  // threads
  bool partial = false;                   // groups at the edge are not full
  uint32_t lds_bytes = 0;
  uint32_t threads() const { return size[0] * size[1] * size[2]; }
  uint32_t waves(uint32_t wave) const { return (threads() + wave - 1) / wave; }
};

// More guest lanes than this are not unrolled side by side: the whole wave in one invocation takes over.
inline constexpr uint32_t kMostLanesPerInvocation = 16;

// Every wave of every group starts with all its lanes on: the execution mask is seeded as a constant. Otherwise from
// each lane's own bit (does its thread exist?).
bool waves_start_full(uint32_t wave, const GroupShape& group);

// Bytes of workgroup memory that the exchange itself takes.
uint32_t exchange_bytes(const LaneLayout& layout, const ProgramNeeds& needs);

// Where the group's LDS lies (docs/decisions/024-large-lds.md).
enum class LdsHome : uint8_t {
  workgroup,  // workgroup memory, as dwords
  views,      // workgroup memory, as dwords and as pairs of them
  memory,     // device memory: what does not fit, and 64-bit atomics where workgroup memory has none
};
LdsHome lds_home(const LaneLayout& layout, const ProgramNeeds& needs, const GroupShape& group, const HostLanes& host);

// Why this layout can't run this program in this group on this host; empty: it can.
std::string why_not(const LaneLayout& layout, const ProgramNeeds& needs, const GroupShape& group,
                    const HostLanes& host);

// For tests and measurements: a layout of this kind where one can be.
enum class LayoutWish : uint8_t { none, per_lane, exchange, whole_wave };
std::optional<LayoutWish> layout_wish(std::string_view text);  // "per-lane", "exchange", "whole-wave", "" or "auto"

struct LaneChoice {
  LaneLayout layout;
  std::string reason;         // why it is the whole wave in one invocation, or why the wish was not granted
  bool constant_seed = true;  // waves_start_full
};

// The first that can be: per lane by the widest subgroup that is no wider than the wave; each lane for itself or
// through workgroup memory, where the subgroup's width is of no use; the whole wave in one invocation. Error: none can.
std::expected<LaneChoice, std::string> choose_lanes(uint32_t wave, const ProgramNeeds& needs, const GroupShape& group,
                                                    const HostLanes& host, LayoutWish wish = LayoutWish::none);

}  // namespace orrery::shader
