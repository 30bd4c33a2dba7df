#include "guest-host/hle/libc/guest_heap.hpp"

#include <algorithm>
#include <bit>

namespace orrery::hle::libc {

namespace {

constexpr uint64_t kChunk = 1 << 20;  // mapped at once for small blocks
constexpr uint64_t kLargestSmall = 32 << 10;
constexpr uint32_t kOwnWindow = ~0u;

// Sizes: 16, 32, 48 and 64, then four steps per doubling.
uint64_t size_of_class(uint32_t index) {
  if (index < 4) return 16 * (index + 1);
  const uint32_t octave = (index - 4) / 4, step = (index - 4) % 4 + 1;
  const uint64_t base = 64ull << octave;
  return base + base / 4 * step;
}

uint32_t class_of(uint64_t size) {
  uint32_t index = 0;
  while (size_of_class(index) < size) ++index;
  return index;
}

}  // namespace

bool GuestHeap::carve(uint32_t index) {
  auto chunk = memory_.map({.kind = memory::MapKind::heap,
                            .size = {kChunk},
                            .protection = memory::kCpuRead | memory::kCpuWrite | memory::kGpuRead | memory::kGpuWrite,
                            .name = "heap"});
  if (!chunk) return false;
  const uint64_t size = size_of_class(index);
  for (uint64_t at = kChunk / size * size; at >= size; at -= size) free_[index].push_back(chunk->value + at - size);
  return true;
}

std::optional<GuestAddress> GuestHeap::allocate(uint64_t size, uint64_t alignment) {
  // Blocks of a power of two are aligned to their size, because chunks are aligned to a guest page.
  if (alignment > 16) size = std::bit_ceil(std::max(size, alignment));
  if (size == 0) size = 1;
  const std::lock_guard lock(mutex_);
  if (size > kLargestSmall || alignment > kGuestPage) {
    auto window =
        memory_.map({.kind = memory::MapKind::heap,
                     .size = {size},
                     .protection = memory::kCpuRead | memory::kCpuWrite | memory::kGpuRead | memory::kGpuWrite,
                     .alignment = {std::max(alignment, kGuestPage)},
                     .name = "heap"});
    if (!window) return {};
    blocks_[window->value] = {align_up(size, kGuestPage), kOwnWindow};
    return *window;
  }
  const uint32_t index = class_of(size);
  if (free_[index].empty() && !carve(index)) return {};
  const uint64_t place = free_[index].back();
  free_[index].pop_back();
  blocks_[place] = {size_of_class(index), index};
  return GuestAddress{place};
}

std::optional<uint64_t> GuestHeap::size_of(GuestAddress block) const {
  const std::lock_guard lock(mutex_);
  const auto it = blocks_.find(block.value);
  if (it == blocks_.end()) return {};
  return it->second.size;
}

bool GuestHeap::release(GuestAddress block) {
  const std::lock_guard lock(mutex_);
  const auto it = blocks_.find(block.value);
  if (it == blocks_.end()) return false;
  if (it->second.size_class == kOwnWindow) {
    if (!memory_.unmap(block, {it->second.size})) return false;
  } else {
    free_[it->second.size_class].push_back(block.value);
  }
  blocks_.erase(it);
  return true;
}

}  // namespace orrery::hle::libc
