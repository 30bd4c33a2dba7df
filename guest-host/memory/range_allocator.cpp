#include "guest-host/memory/range_allocator.hpp"

#include <algorithm>
#include <iterator>

#include "shared/quantity.hpp"

namespace orrery::memory {

RangeAllocator::RangeAllocator(uint64_t begin, uint64_t end) : begin_(begin), end_(end) {
  if (begin < end) free_[begin] = end;
}

std::optional<uint64_t> RangeAllocator::allocate(uint64_t search_begin, uint64_t search_end, uint64_t size,
                                                 uint64_t alignment) {
  if (size == 0 || size > end_ - begin_) return {};
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [begin, end] = *it;
    const uint64_t lowest = std::max(begin, search_begin);
    const uint64_t highest = std::min(end, search_end);
    if (lowest >= highest || alignment > end_) continue;
    const uint64_t place = align_up(lowest, alignment);
    if (place < lowest || place >= highest || highest - place < size) continue;
    free_.erase(it);
    if (begin < place) free_[begin] = place;
    if (place + size < end) free_[place + size] = end;
    return place;
  }
  return {};
}

bool RangeAllocator::allocated(uint64_t begin, uint64_t size) const {
  if (size == 0 || begin < begin_ || begin >= end_ || size > end_ - begin) return false;
  auto after = free_.upper_bound(begin);
  if (after != free_.end() && after->first < begin + size) return false;
  return after == free_.begin() || std::prev(after)->second <= begin;
}

bool RangeAllocator::release(uint64_t begin, uint64_t size) {
  if (!allocated(begin, size)) return false;
  uint64_t end = begin + size;
  auto after = free_.lower_bound(begin);
  if (after != free_.end() && after->first == end) {
    end = after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin() && std::prev(after)->second == begin) {
    std::prev(after)->second = end;
  } else {
    free_[begin] = end;
  }
  return true;
}

std::optional<Range> RangeAllocator::largest_free(uint64_t search_begin, uint64_t search_end,
                                                  uint64_t alignment) const {
  std::optional<Range> best;
  for (const auto& [begin, end] : free_) {
    const uint64_t lowest = align_up(std::max(begin, search_begin), alignment);
    const uint64_t highest = std::min(end, search_end);
    if (lowest >= highest) continue;
    if (!best || highest - lowest > best->size) best = Range{lowest, highest - lowest};
  }
  return best;
}

uint64_t RangeAllocator::free_bytes() const {
  uint64_t sum = 0;
  for (const auto& [begin, end] : free_) sum += end - begin;
  return sum;
}

}  // namespace orrery::memory
