// Which ranges of the arena the device must see, and how they are cut into buffers. Pure arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu-service/memory/arena_range.hpp"
#include "protocol/segment_layout.hpp"

namespace orrery::dispatch {

using memory::ArenaRange;

// The arena ranges that the map's entries show: sorted, touching and overlapping ones (aliases) merged.
std::vector<ArenaRange> mapped_ranges(std::span<const protocol::MapEntry> entries);
// Of them, what programs of the GPU are likely to work in: not stacks and heaps that the title did not open to it.
std::vector<ArenaRange> device_ranges(std::span<const protocol::MapEntry> entries);

struct PlanLimits {
  uint64_t granule = 2 << 20;     // pieces begin and end at multiples (or at the arena's end); a power of two
  uint64_t largest = 1ull << 30;  // bytes of a piece, a multiple of the granule
  uint64_t arena_size = 0;        // bytes that may be covered, a multiple of the import alignment
  size_t most_pieces = 1024;      // more ranges than this are covered with a coarser granule
};

// Rounds the ranges out and merges what then touches. Bytes that nobody mapped may be covered too.
std::vector<ArenaRange> cover(std::span<const ArenaRange> mapped, const PlanLimits& limits);

struct PieceChange {
  std::vector<size_t> drop;      // indices into `present`
  std::vector<ArenaRange> make;  // sorted; together with what stays they cover `wanted` and do not overlap
};
// From the pieces that exist (sorted, apart) to pieces that cover `wanted`. A piece outside of `wanted` is dropped; a
// small one is dropped too when it touches a new range, so that growing memory ends up in one piece.
PieceChange change_pieces(std::span<const ArenaRange> present, std::span<const ArenaRange> wanted,
                          const PlanLimits& limits);

// Calls visit(ArenaRange) for the parts of `range` that lie in the sorted ranges, which are apart.
template <class Visit>
void for_each_common(std::span<const ArenaRange> sorted, ArenaRange range, Visit&& visit) {
  auto at = std::ranges::upper_bound(sorted, range.begin, {}, &ArenaRange::begin);
  if (at != sorted.begin()) --at;
  for (; at != sorted.end() && at->begin < range.end; ++at) {
    const ArenaRange common{std::max(at->begin, range.begin), std::min(at->end, range.end)};
    if (common.begin < common.end) visit(common);
  }
}

}  // namespace orrery::dispatch
