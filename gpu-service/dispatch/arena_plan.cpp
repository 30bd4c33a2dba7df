#include "gpu-service/dispatch/arena_plan.hpp"

#include <algorithm>

#include "shared/quantity.hpp"

namespace orrery::dispatch {
namespace {

// Pieces up to this size are made again to grow together with a neighbour; importing costs about 50 ms per GiB.
constexpr uint64_t kMergeUpTo = 128ull << 20;

std::vector<ArenaRange> merged(std::vector<ArenaRange> ranges) {
  memory::merge_ranges(ranges);
  return ranges;
}

bool inside_one(std::span<const ArenaRange> sorted, const ArenaRange& range) {
  const auto after = std::upper_bound(sorted.begin(), sorted.end(), range.begin,
                                      [](uint64_t begin, const ArenaRange& r) { return begin < r.begin; });
  return after != sorted.begin() && std::prev(after)->end >= range.end;
}

// `wanted` without what `kept` covers; both sorted and apart.
std::vector<ArenaRange> without(std::span<const ArenaRange> wanted, std::span<const ArenaRange> kept) {
  std::vector<ArenaRange> out;
  size_t k = 0;
  for (ArenaRange rest : wanted) {
    while (k < kept.size() && kept[k].end <= rest.begin) ++k;
    for (size_t i = k; i < kept.size() && kept[i].begin < rest.end; ++i) {
      if (kept[i].begin > rest.begin) out.push_back({rest.begin, kept[i].begin});
      rest.begin = std::max(rest.begin, kept[i].end);
    }
    if (rest.begin < rest.end) out.push_back(rest);
  }
  return out;
}

bool touches_one(std::span<const ArenaRange> sorted, const ArenaRange& range) {
  return std::any_of(sorted.begin(), sorted.end(),
                     [&](const ArenaRange& r) { return r.end == range.begin || r.begin == range.end; });
}

}  // namespace

std::vector<ArenaRange> mapped_ranges(std::span<const protocol::MapEntry> entries) {
  std::vector<ArenaRange> ranges;
  ranges.reserve(entries.size());
  for (const auto& entry : entries) ranges.push_back({entry.arena_offset, entry.arena_offset + entry.size});
  return merged(std::move(ranges));
}

std::vector<ArenaRange> device_ranges(std::span<const protocol::MapEntry> entries) {
  constexpr uint32_t kGpuAccess = 0x30;
  std::vector<ArenaRange> ranges;
  for (const auto& entry : entries) {
    const auto kind = static_cast<protocol::MapKind>(entry.kind);
    const bool the_cpu_s = kind == protocol::MapKind::stack || kind == protocol::MapKind::heap;
    if (the_cpu_s && (entry.protection & kGpuAccess) == 0) continue;
    ranges.push_back({entry.arena_offset, entry.arena_offset + entry.size});
  }
  return merged(std::move(ranges));
}

std::vector<ArenaRange> cover(std::span<const ArenaRange> mapped, const PlanLimits& limits) {
  for (uint64_t granule = limits.granule;; granule *= 2) {
    std::vector<ArenaRange> rounded;
    rounded.reserve(mapped.size());
    for (const ArenaRange& range : mapped) {
      rounded.push_back({align_down(range.begin, granule), std::min(align_up(range.end, granule), limits.arena_size)});
    }
    rounded = merged(std::move(rounded));
    if (rounded.size() <= limits.most_pieces || granule >= limits.largest) return rounded;
  }
}

PieceChange change_pieces(std::span<const ArenaRange> present, std::span<const ArenaRange> wanted,
                          const PlanLimits& limits) {
  PieceChange change;
  std::vector<ArenaRange> kept;
  std::vector<size_t> kept_index;
  for (size_t i = 0; i < present.size(); ++i) {
    if (inside_one(wanted, present[i])) {
      kept.push_back(present[i]);
      kept_index.push_back(i);
    } else {
      change.drop.push_back(i);
    }
  }
  std::vector<ArenaRange> missing = without(wanted, kept);
  if (!missing.empty()) {
    std::vector<ArenaRange> staying;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (kept[i].size() <= kMergeUpTo && touches_one(missing, kept[i])) {
        change.drop.push_back(kept_index[i]);
      } else {
        staying.push_back(kept[i]);
      }
    }
    missing = without(wanted, staying);
  }
  for (ArenaRange range : missing) {
    // Cut at multiples of the largest size, so that a range has the same pieces however it came about.
    while (range.begin < range.end) {
      const uint64_t cut = std::min(range.end, align_down(range.begin, limits.largest) + limits.largest);
      change.make.push_back({range.begin, cut});
      range.begin = cut;
    }
  }
  std::sort(change.drop.begin(), change.drop.end());
  return change;
}

}  // namespace orrery::dispatch
