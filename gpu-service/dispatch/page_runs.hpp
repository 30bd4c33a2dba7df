// The address map in whole 16 KiB pages: what the device page table can show.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/segment_layout.hpp"

namespace orrery::dispatch {

// Consecutive pages whose bytes are consecutive in the arena.
struct PageRun {
  uint64_t first_page = 0;  // guest address >> 14
  uint64_t pages = 0;
  uint64_t arena_offset = 0;  // of the first page's first byte
  friend bool operator==(const PageRun&, const PageRun&) = default;
};

struct PageRuns {
  std::vector<PageRun> runs;   // sorted, apart
  uint64_t partial_pages = 0;  // pages that are mapped only in part, or from several places: left out
  uint64_t out_of_reach = 0;   // entries at or behind 2^40, which the device page table can't name
};

// `entries` as a snapshot gives them: sorted, not overlapping.
PageRuns page_runs(std::span<const protocol::MapEntry> entries);

}  // namespace orrery::dispatch
