#include "gpu-service/dispatch/launch_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::dispatch {
namespace {

constexpr uint32_t kMostGroupThreads = 1024;  // hardware limit of a compute group on gfx10
constexpr uint32_t kMostLds = 65536;          // bytes that a group can have
constexpr const char* kAxis[] = {"x", "y", "z"};

}  // namespace

std::expected<LaunchGeometry, std::string> launch_geometry(const DispatchState& state) {
  LaunchGeometry g;
  g.wave = (state.initiator & kWave32) != 0 ? 32 : 64;
  g.group_size = state.group_size;
  uint64_t threads = 1;
  for (size_t i = 0; i < 3; ++i) {
    if (state.group_size[i] == 0) return std::unexpected(fmt::format("a group of 0 threads in {}", kAxis[i]));
    if (state.group_size[i] > kMostGroupThreads) threads = UINT32_MAX;
    threads *= state.group_size[i];
    if (threads > kMostGroupThreads) {
      return std::unexpected(fmt::format("a group of {} x {} x {} threads; the hardware allows {}", state.group_size[0],
                                         state.group_size[1], state.group_size[2], kMostGroupThreads));
    }
  }
  g.workgroup_bytes = (state.rsrc2 >> 15 & 0x1ff) * 512;  // LDS_SIZE in 128-dword units
  if (g.workgroup_bytes > kMostLds) {
    return std::unexpected(fmt::format("{} bytes of LDS; the hardware has {}", g.workgroup_bytes, kMostLds));
  }
  g.scratch = (state.rsrc2 & 1) != 0;
  if (g.scratch) {
    g.scratch_wave_bytes = (state.tmpring_size >> 12 & 0x1fff) * 1024;
    if (g.scratch_wave_bytes == 0) {
      return std::unexpected("the program wants scratch memory, but COMPUTE_TMPRING_SIZE gives its waves none");
    }
  }

  const bool by_threads = (state.initiator & kThreadDimensions) != 0;
  const bool partial = by_threads || (state.initiator & kPartialGroups) != 0;
  bool any_partial = false;
  std::array<uint64_t, 3> total{};
  for (size_t i = 0; i < 3; ++i) {
    const uint64_t full = state.group_size[i];
    uint64_t end = state.groups[i];  // groups are counted from 0, wherever the launch starts
    if (by_threads) {
      total[i] = end;
      end = (end + full - 1) / full;
    } else {
      uint64_t last = full;
      if (partial && end > 0) {
        last = state.partial_size[i];
        if (last == 0 || last > full) {
          return std::unexpected(
              fmt::format("a partial group of {} threads in {} where a full one has {}", last, kAxis[i], full));
        }
      }
      total[i] = end == 0 ? 0 : (end - 1) * full + last;
    }
    any_partial = any_partial || total[i] != end * full;
    const uint64_t start = (state.initiator & kStartAtZero) != 0 ? 0 : state.start[i];
    g.first[i] = static_cast<uint32_t>(start);
    g.count[i] = static_cast<uint32_t>(end > start ? end - start : 0);
  }
  if (any_partial && !g.empty()) {
    for (size_t i = 0; i < 3; ++i) {
      if (total[i] > UINT32_MAX) return std::unexpected(fmt::format("{} threads in {}", total[i], kAxis[i]));
      g.threads[i] = static_cast<uint32_t>(total[i]);
    }
  }
  return g;
}

std::array<uint32_t, 3> part_of_groups(const LaunchGeometry& geometry, const std::array<uint32_t, 3>& device_most,
                                       uint64_t groups) {
  std::array<uint32_t, 3> most{};
  for (size_t i = 0; i < 3; ++i) {
    most[i] = static_cast<uint32_t>(std::min<uint64_t>(device_most[i], std::max<uint64_t>(groups, 1)));
    // The next dimension has room only when this one is whole.
    groups /= std::max<uint64_t>(std::min(most[i], geometry.count[i]), 1);
  }
  return most;
}

uint64_t dispatches_needed(const LaunchGeometry& geometry, const std::array<uint32_t, 3>& most) {
  uint64_t needed = 1;
  for (size_t i = 0; i < 3; ++i) {
    const uint64_t parts = (static_cast<uint64_t>(geometry.count[i]) + most[i] - 1) / most[i];
    if (parts != 0 && needed > UINT64_MAX / parts) return UINT64_MAX;
    needed *= parts;
  }
  return needed;
}

}  // namespace orrery::dispatch
