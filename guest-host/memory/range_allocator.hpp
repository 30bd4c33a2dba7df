// First-fit allocation of ranges of a number line (arena offsets). Not thread-safe: the owner locks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace orrery::memory {

struct Range {
  uint64_t begin = 0;
  uint64_t size = 0;
  uint64_t end() const { return begin + size; }
};

class RangeAllocator {
 public:
  RangeAllocator(uint64_t begin, uint64_t end);
  // The lowest free range of `size` in [search_begin, search_end), aligned to a power of two.
  std::optional<uint64_t> allocate(uint64_t search_begin, uint64_t search_end, uint64_t size, uint64_t alignment);
  // False, and nothing changes, when a part of the range is free already or outside.
  bool release(uint64_t begin, uint64_t size);
  std::optional<Range> largest_free(uint64_t search_begin, uint64_t search_end, uint64_t alignment) const;
  // Every byte of the range is allocated.
  bool allocated(uint64_t begin, uint64_t size) const;
  uint64_t free_bytes() const;

 private:
  uint64_t begin_;
  uint64_t end_;
  std::map<uint64_t, uint64_t> free_;  // begin -> end, never touching each other
};

}  // namespace orrery::memory
