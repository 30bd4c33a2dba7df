// What the slots say, added up: read from outside, by the guest process at its end, or by a test. Reading changes
// nothing and never waits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/measure/layout.hpp"

namespace orrery::measure {

struct SpanSummary {
  std::string name;
  Process process{};
  uint64_t count = 0, total_ns = 0, largest_ns = 0;
  uint64_t p50_ns = 0, p99_ns = 0;  // within 1/16
};
struct CounterValue {
  std::string name;
  Process process{};
  uint64_t value = 0;
};
struct OpenNow {
  Process process{};
  uint32_t life = 0, thread = 0;
  std::string thread_name;
  std::string name;
  uint64_t detail = 0, age_ns = 0;
  uint32_t depth = 0;  // 0: outermost
};

struct Snapshot {
  uint64_t taken_ns = 0, run_ns = 0;   // CLOCK_MONOTONIC; since the start of the run
  std::vector<SpanSummary> spans;      // that have a count; by process, the largest total first
  std::vector<CounterValue> counters;  // that are not 0
  std::vector<OpenNow> open;           // by process and thread, outermost first
};

// Nothing when the region was never formatted.
std::optional<Snapshot> snapshot(const Region& region);

// What the threads of one process are doing, or were when it died.
std::vector<OpenNow> open_spans(const Region& region, Process process, uint64_t now);
// "present (flip 12) for 0.4 ms, in loop > submission (submission 7)", one line per thread; empty: nothing was open.
std::vector<std::string> last_words(const std::vector<OpenNow>& open);

// The detail of a span in words: "program 0x4000", "flip 3"; empty where it has none.
std::string detail_text(std::string_view span, uint64_t detail);
// "0.42 us", "13.1 ms", "2.31 s"
std::string duration_text(uint64_t ns);
// One line per span, with the share of the run, then the counters.
std::string table_of(const Snapshot& snapshot);
// An object with run_ns, spans, counters, open.
std::string json_of(const Snapshot& snapshot);

}  // namespace orrery::measure
