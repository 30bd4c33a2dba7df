// Which bytes of two blocks differ, 64 at a time.
#pragma once

#include <emmintrin.h>
#include <cstddef>
#include <cstdint>

namespace orrery {

// Bit i: byte i of 64 differs.
inline uint64_t differing_bytes(const std::byte* a, const std::byte* b) {
  uint64_t equal = 0;
  for (int part = 0; part < 4; ++part) {
    const auto load = [part](const std::byte* from) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + part);
    };
    equal |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(load(a), load(b)))))
             << (part * 16);
  }
  return ~equal;
}

}  // namespace orrery
