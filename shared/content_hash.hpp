// Content keys: XXH3-128 over bytes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace orrery {

struct ContentHash {
  uint64_t low = 0;
  uint64_t high = 0;
  friend constexpr auto operator<=>(ContentHash, ContentHash) = default;
  std::string hex() const;  // 32 digits
};

ContentHash hash_bytes(std::span<const std::byte> bytes, uint64_t seed = 0);

}  // namespace orrery

template <>
struct std::hash<orrery::ContentHash> {
  size_t operator()(orrery::ContentHash h) const noexcept { return static_cast<size_t>(h.low); }
};
