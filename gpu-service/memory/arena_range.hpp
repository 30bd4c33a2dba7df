// A range of bytes of the guest arena.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery::memory {

struct ArenaRange {
  uint64_t begin = 0, end = 0;  // bytes into the arena
  uint64_t size() const { return end - begin; }
  friend bool operator==(const ArenaRange&, const ArenaRange&) = default;
};

// Ascending, touching and overlapping ones merged, empty ones left out.
void merge_ranges(std::vector<ArenaRange>& ranges);

}  // namespace orrery::memory
