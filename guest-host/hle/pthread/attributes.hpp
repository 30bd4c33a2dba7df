// Attribute objects fit into the guest's own variable: a mark and the properties.
#pragma once

#include <cstdint>
#include <optional>

#include "guest-host/hle/pthread/sync_objects.hpp"

namespace orrery::hle::pthread {

// Mark in the high 16 bits.
inline constexpr uint64_t kThreadAttribute = 0x7A01ull << 48;
inline constexpr uint64_t kMutexAttribute = 0x7A02ull << 48;
inline constexpr uint64_t kConditionAttribute = 0x7A03ull << 48;
constexpr bool has_mark(uint64_t value, uint64_t mark) { return value >> 48 == mark >> 48; }

struct ThreadAttributes {
  uint64_t stack_size = 1 << 20;  // bytes, a multiple of 4 KiB, below 2^40
  bool detached = false;
};
constexpr uint64_t pack(ThreadAttributes a) {
  return kThreadAttribute | (a.stack_size >> 12) << 1 | (a.detached ? 1 : 0);
}
constexpr std::optional<ThreadAttributes> unpack_thread(uint64_t value) {
  if (!has_mark(value, kThreadAttribute)) return std::nullopt;
  return ThreadAttributes{((value & 0xffff'ffff'ffff) >> 1) << 12, (value & 1) != 0};
}

constexpr uint64_t pack(MutexType type) { return kMutexAttribute | static_cast<uint64_t>(type); }
constexpr std::optional<MutexType> unpack_mutex(uint64_t value) {
  const uint64_t type = value & 0xffff'ffff'ffff;
  if (!has_mark(value, kMutexAttribute) || type < 1 || type > 4) return std::nullopt;
  return static_cast<MutexType>(type);
}

}  // namespace orrery::hle::pthread
