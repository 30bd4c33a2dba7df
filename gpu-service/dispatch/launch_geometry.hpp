// From the dispatch registers to groups and threads. Register facts: AMD public headers gc_10_3_0
// (COMPUTE_DISPATCH_INITIATOR, COMPUTE_NUM_THREAD_*, COMPUTE_START_*, COMPUTE_PGM_RSRC2).
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>

#include "gpu-service/dispatch/executor.hpp"

namespace orrery::dispatch {

// DISPATCH_INITIATOR bits.
inline constexpr uint32_t kPartialGroups = 1u << 1;     // PARTIAL_TG_EN
inline constexpr uint32_t kStartAtZero = 1u << 2;       // FORCE_START_AT_000
inline constexpr uint32_t kThreadDimensions = 1u << 5;  // USE_THREAD_DIMENSIONS
inline constexpr uint32_t kWave32 = 1u << 15;           // CS_W32_EN

struct LaunchGeometry {
  uint32_t wave = 64;                    // lanes
  std::array<uint32_t, 3> group_size{};  // threads
  std::array<uint32_t, 3> first{};       // first group
  std::array<uint32_t, 3> count{};       // groups from there; a 0 means that there is nothing to do
  std::array<uint32_t, 3> threads{};     // total threads from group 0 when a last group is partial, else zeros
  uint32_t workgroup_bytes = 0;          // LDS the group asks for
  bool scratch = false;                  // SCRATCH_EN
  uint32_t scratch_wave_bytes = 0;       // private memory of a wave: COMPUTE_TMPRING_SIZE.WAVESIZE, 24:12, in KiB
  bool empty() const { return count[0] == 0 || count[1] == 0 || count[2] == 0; }
  uint32_t group_threads() const { return group_size[0] * group_size[1] * group_size[2]; }
  uint32_t waves_per_group() const { return (group_threads() + wave - 1) / wave; }
};

// The reason when the registers describe no launch: a group of no threads or of more than 1024, more than 64 KiB of
// LDS, partial sizes that are none.
std::expected<LaunchGeometry, std::string> launch_geometry(const DispatchState& state);

// The most groups per dimension of a part that runs at most `groups` groups, and none beyond `device_most`.
std::array<uint32_t, 3> part_of_groups(const LaunchGeometry& geometry, const std::array<uint32_t, 3>& device_most,
                                       uint64_t groups);

// The launch cut into dispatches of at most `most` groups in each dimension, in order. Calls emit(first, count).
// `dispatches_needed` says how many there would be.
uint64_t dispatches_needed(const LaunchGeometry& geometry, const std::array<uint32_t, 3>& most);
template <class Emit>
void for_each_part(const LaunchGeometry& geometry, const std::array<uint32_t, 3>& most, Emit&& emit) {
  // 64 bits wide: first + count may reach 2^32.
  for (uint64_t z = 0; z < geometry.count[2]; z += most[2]) {
    for (uint64_t y = 0; y < geometry.count[1]; y += most[1]) {
      for (uint64_t x = 0; x < geometry.count[0]; x += most[0]) {
        const std::array<uint64_t, 3> at{x, y, z};
        std::array<uint32_t, 3> first{}, count{};
        for (size_t i = 0; i < 3; ++i) {
          first[i] = static_cast<uint32_t>(geometry.first[i] + at[i]);
          const uint64_t left = geometry.count[i] - at[i];
          count[i] = static_cast<uint32_t>(left < most[i] ? left : most[i]);
        }
        emit(first, count);
      }
    }
  }
}

}  // namespace orrery::dispatch
