#include "shared/content_hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace orrery {

std::string ContentHash::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

ContentHash hash_bytes(std::span<const std::byte> bytes, uint64_t seed) {
  const XXH128_hash_t h = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {h.low64, h.high64};
}

}  // namespace orrery
