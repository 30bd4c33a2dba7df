// Runs a dispatch's waves on the host to find what it may store to: all of them, or those of a sample of its groups.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "gpu-service/dispatch/executor.hpp"
#include "gpu-service/dispatch/launch_geometry.hpp"
#include "gpu-service/memory/recording_memory.hpp"
#include "gpu-service/shader/translate.hpp"

namespace orrery::dispatch {

inline constexpr uint64_t kMostSampledGroups = 256;

struct HostRunLimits {
  uint64_t most_waves;                // more: a sample of groups
  unsigned threads = 0;               // 0: as many as the host has cores
  uint64_t most_steps = 64ull << 20;  // wave instructions, of all threads
  bool whole = false;                 // every instruction is run, not only those that addresses depend on
};

struct HostRun {
  std::vector<memory::GuestSpan> written;  // in lines of 64 bytes
  std::vector<memory::GuestSpan>
      writable;               // the mapped pages of these; of a sample, all between the first and the last
  memory::MemoryNotes notes;  // what it was worked out from
  uint64_t groups = 0, waves = 0, steps = 0;
  bool sampled = false;
  uint64_t escapes = 0;  // accesses outside the map, which are left out
};

// Why waves could not be run to the end, and what that was worked out from.
struct HostRunFailure {
  std::string reason;
  memory::MemoryNotes notes;
};

// Where work stores to `memory` meanwhile, the notes may not hold.
std::expected<HostRun, HostRunFailure> run_on_host(const shader::Program& program, const DispatchState& dispatch,
                                                   const LaunchGeometry& geometry, const memory::GuestMemory& memory,
                                                   const HostRunLimits& limits);

// Numbers of the groups that are run: all, or a sample that holds the first, the last and others evenly between.
std::vector<std::array<uint32_t, 3>> groups_to_run(const LaunchGeometry& geometry, uint64_t most_waves);

}  // namespace orrery::dispatch
