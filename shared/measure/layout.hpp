// The measurements in the control segment. Both processes write, each thread into a slot of its own; anyone who can map
// the segment reads, without the writers' help and while they are stuck or dead. Plain data, relaxed atomics: a reader
// may see a span counted whose bucket is not yet.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "shared/measure/buckets.hpp"
#include "shared/measure/names.hpp"

namespace orrery::measure {

inline constexpr uint64_t kMagic = 0x3153'4e41'5053'524f;  // "ORSPANS1"
inline constexpr size_t kMostSpans = 48;                   // names that fit
inline constexpr size_t kMostCounters = 48;
inline constexpr size_t kNameBytes = 32;
inline constexpr size_t kMostOpen = 16;         // spans inside each other that are seen from outside
inline constexpr size_t kSlotsPerProcess = 64;  // the last is shared by all threads that found none
inline constexpr size_t kEventsPerSlot = 4096;  // a power of two
static_assert(static_cast<size_t>(SpanName::count) <= kMostSpans);
static_assert(static_cast<size_t>(Counter::count) <= kMostCounters);

enum class Process : uint32_t { guest = 0, service = 1 };
inline constexpr size_t kProcesses = 2;
inline constexpr size_t kSlots = kProcesses * kSlotsPerProcess;

struct Totals {
  std::atomic<uint64_t> count, total_ns, largest_ns;
};
using Histogram = std::array<std::atomic<uint64_t>, kBuckets>;

// A span that has begun and not ended: what its thread does now, or did when the process died.
struct OpenSpan {
  std::atomic<uint64_t> start_ns;  // CLOCK_MONOTONIC
  std::atomic<uint64_t> detail;
  std::atomic<uint32_t> name;
};

// What a trace event lies on.
enum class TrackKind : uint8_t { thread = 0, device = 1, queue = 2 };

struct Event {
  std::atomic<uint64_t> start_ns, duration_ns, detail;
  std::atomic<uint64_t> what;  // packed EventKey
};
struct EventKey {
  SpanName name;
  TrackKind track;
  uint16_t life;    // of the service; 0 in the guest process
  uint32_t number;  // thread id, or which device or queue
};
constexpr uint64_t pack(const EventKey& key) {
  return static_cast<uint64_t>(key.name) | static_cast<uint64_t>(key.track) << 8 |
         static_cast<uint64_t>(key.life) << 16 | static_cast<uint64_t>(key.number) << 32;
}
constexpr EventKey unpack(uint64_t what) {
  return {static_cast<SpanName>(what & 0xff), static_cast<TrackKind>(what >> 8 & 0xff),
          static_cast<uint16_t>(what >> 16), static_cast<uint32_t>(what >> 32)};
}

// What is small comes together, so that a reader touches few pages.
struct alignas(64) Slot {
  std::atomic<uint32_t> thread;  // its owner's thread id; 0: free
  std::atomic<uint32_t> life;    // of the service; 0 in the guest process
  std::atomic<uint32_t> used;    // 1 once it had an owner
  std::atomic<uint32_t> depth;   // open spans
  std::array<std::atomic<uint64_t>, 2> thread_name;
  std::atomic<uint64_t> events;  // ever written to the slot's ring
  std::array<OpenSpan, kMostOpen> open;
  std::array<Totals, kMostSpans> totals;
  std::array<std::atomic<uint64_t>, kMostCounters> counters;
};

struct Region {
  std::atomic<uint64_t> magic;     // kMagic once the names are there
  std::atomic<uint64_t> start_ns;  // CLOCK_MONOTONIC at the start of the run
  std::atomic<uint32_t> tracing;   // 1: events are written too
  std::array<char, 64> title;      // what runs, for people; written before anybody else maps the region
  std::atomic<uint32_t> span_names, counter_names;
  // The writers' names, so that a reader of another build shows the right ones.
  std::array<std::array<char, kNameBytes>, kMostSpans> spans;
  std::array<std::array<char, kNameBytes>, kMostCounters> counters;
  std::array<Slot, kSlots> slots;
  std::array<std::array<Histogram, kMostSpans>, kSlots> histograms;
  std::array<std::array<Event, kEventsPerSlot>, kSlots> events;
};

}  // namespace orrery::measure
