// What both processes see of stretches (stretch.hpp), besides the redo memory. Plain data and lock-free atomics.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace orrery::protocol {

inline constexpr uint64_t kFetchedBytes = 17ull << 20;  // indirect buffers of one checkpoint

enum class StretchItem : uint32_t {
  bytes = 1,        // payload goes to arena offset a
  masked_page = 2,  // payload: 512 bytes of mask (bit i: byte i changed), then the page that goes to arena offset a
  event = 3,        // queue a, context id b
  done = 4,         // journal entry a
};
inline constexpr uint32_t kStretchQuarantined = 1, kStretchDirect = 2;
struct StretchSlot {
  std::atomic<uint64_t> begun;     // by the service: the number of the stretch that it works on
  std::atomic<uint64_t> executed;  // by the service: its record is complete
  std::atomic<uint64_t> retired;   // by the guest process: the newest stretch that is applied and published
  std::atomic<uint64_t> record_bytes;
  std::atomic<uint64_t> sequence;  // journal entry that the stretch is part of
  std::atomic<uint32_t> flags;
  std::atomic<uint32_t> executed_futex, retired_futex;
  std::atomic<uint32_t> committer_sleeps, service_sleeps;
  // By the guest process: lives died in this stretch, it is to be run piece by piece. 0: none.
  std::atomic<uint64_t> careful;
};

// A life was found gone, and a later one's stretch was retired: host times (CLOCK_MONOTONIC), and how long the later
// one took for its Vulkan instance and device.
struct Recovery {
  std::atomic<uint64_t> died_ns, retired_ns, device_open_ns;
};
inline constexpr uint64_t kKeptRecoveries = 64;

// What became of everything that was submitted: written by the guest process, readable from outside.
struct StretchCounts {
  std::atomic<uint64_t> first_time, replayed, quarantined;
};
struct Ledger {
  std::atomic<uint64_t> submitted;  // journal entries: submissions and flips
  StretchCounts entries;            // of them, how they were retired
  StretchCounts stretches;
  // How the stretches' stores came to guest memory, and bytes that the guest process applied.
  std::atomic<uint64_t> direct, redone, applied_bytes;
  std::atomic<uint64_t> deaths;  // lives that ended while the title ran
  // The newest recoveries, each at its number % kKeptRecoveries; `recoveries` is how many there were.
  std::atomic<uint64_t> recoveries;
  std::array<Recovery, kKeptRecoveries> kept;
};

}  // namespace orrery::protocol
