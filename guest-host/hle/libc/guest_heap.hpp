// malloc for the title, in the arena. What is known about blocks is kept outside of guest memory, so that a title that
// overruns its blocks damages only itself. Safe from any thread.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "guest-host/memory/guest_memory.hpp"

namespace orrery::hle::libc {

class GuestHeap {
 public:
  explicit GuestHeap(memory::GuestMemory& memory) : memory_(memory) {}
  // `alignment` is a power of two. Nothing when the arena is full. Contents are undefined.
  std::optional<GuestAddress> allocate(uint64_t size, uint64_t alignment = 16);
  // Usable bytes of a block; nothing when it is no live block.
  std::optional<uint64_t> size_of(GuestAddress block) const;
  // False when it is no live block.
  bool release(GuestAddress block);

 private:
  struct Block {
    uint64_t size = 0;
    uint32_t size_class = 0;  // kOwnWindow: mapped for itself
  };
  bool carve(uint32_t size_class);

  memory::GuestMemory& memory_;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, Block> blocks_;
  std::array<std::vector<uint64_t>, 64> free_;
};

}  // namespace orrery::hle::libc
