// Behind level 1 of the device page table (translate.hpp): the largest run of pages at consecutive device addresses, so
// that most accesses need no walk.
#pragma once

#include "gpu-service/shader/translate.hpp"

namespace orrery::shader {

inline constexpr uint64_t kLevel1Entries = 1ull << (kAddressBits - kLevel1Shift);

// At level 1 + kLevel1Entries * 8. Device address = guest address + delta; size 0: no window.
struct PageTableWindow {
  uint64_t begin, size, delta;
};

}  // namespace orrery::shader
