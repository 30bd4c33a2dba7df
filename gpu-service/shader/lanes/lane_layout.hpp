// How a wave is laid on the host.
#pragma once

#include <cstdint>
#include <string>

namespace orrery::shader {

// How the lanes of one wave learn from each other when several invocations hold them.
enum class LaneExchange : uint8_t {
  subgroup,   // ballots, votes and shuffles of a subgroup whose width is required
  workgroup,  // workgroup memory and barriers: one wave is the whole workgroup, the subgroup's width does not matter
  none,       // not at all: each lane's work is its own
};

// k = guest lanes per invocation. Lane l of a wave is slot l / subgroup of its invocation number l % subgroup.
struct LaneLayout {
  uint32_t wave = 32;      // guest wave width, 32 or 64
  uint32_t subgroup = 32;  // invocations of a wave; exchange by subgroup: the width that is required, full subgroups
  uint32_t k = 1;          // wave / subgroup; wave: the whole wave in one invocation, which exchanges nothing
  LaneExchange exchange = LaneExchange::subgroup;
  friend bool operator==(const LaneLayout&, const LaneLayout&) = default;

  bool whole_wave() const { return k == wave; }
  // Invocations that hold one wave.
  uint32_t invocations() const { return whole_wave() ? 1 : subgroup; }
  // The subgroup width the pipeline must require, with full subgroups; 0: any will do.
  uint32_t required_subgroup() const { return whole_wave() || exchange != LaneExchange::subgroup ? 0 : subgroup; }
  // "per lane", "2 lanes an invocation", "whole wave", with the exchange; names the layout in cache keys and reports.
  std::string text() const;
};

inline constexpr LaneLayout whole_wave_layout(uint32_t wave) { return {wave, 1, wave, LaneExchange::none}; }
inline constexpr LaneLayout workgroup_layout(uint32_t wave) { return {wave, wave, 1, LaneExchange::workgroup}; }
inline constexpr LaneLayout separate_layout(uint32_t wave) { return {wave, wave, 1, LaneExchange::none}; }
inline constexpr LaneLayout subgroup_layout(uint32_t wave, uint32_t subgroup) {
  return {wave, subgroup, wave / subgroup, LaneExchange::subgroup};
}

}  // namespace orrery::shader
