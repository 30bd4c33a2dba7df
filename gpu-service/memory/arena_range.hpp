// A range of bytes of the guest arena.
#pragma once

#include <cstdint>

namespace orrery::memory {

struct ArenaRange {
  uint64_t begin = 0, end = 0;  // bytes into the arena
  uint64_t size() const { return end - begin; }
  friend bool operator==(const ArenaRange&, const ArenaRange&) = default;
};

}  // namespace orrery::memory
