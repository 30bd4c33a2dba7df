// Strong number types: units and address spaces that do not convert silently.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace orrery {

// A count in one unit (bytes, dwords).
template <class Tag>
struct Count {
  uint64_t value = 0;
  friend constexpr auto operator<=>(Count, Count) = default;
  friend constexpr Count operator+(Count a, Count b) { return {a.value + b.value}; }
  friend constexpr Count operator-(Count a, Count b) { return {a.value - b.value}; }
};

struct BytesTag {};
struct DwordsTag {};
using Bytes = Count<BytesTag>;
using Dwords = Count<DwordsTag>;

constexpr Bytes bytes_of(Dwords d) { return {d.value * 4}; }

// A position in one address space; positions of different spaces do not mix.
template <class Tag>
struct Position {
  uint64_t value = 0;
  friend constexpr auto operator<=>(Position, Position) = default;
  friend constexpr Position operator+(Position a, Bytes b) { return {a.value + b.value}; }
  friend constexpr Position operator-(Position a, Bytes b) { return {a.value - b.value}; }
  friend constexpr Bytes operator-(Position a, Position b) { return {a.value - b.value}; }
};

struct GuestAddressTag {};
struct ArenaOffsetTag {};
struct DeviceAddressTag {};
// The guest's virtual address, for its CPU and its GPU alike.
using GuestAddress = Position<GuestAddressTag>;
// A byte offset into the guest arena (the console's unified memory).
using ArenaOffset = Position<ArenaOffsetTag>;
// A VkDeviceAddress of the host GPU.
using DeviceAddress = Position<DeviceAddressTag>;

constexpr uint64_t align_down(uint64_t value, uint64_t power_of_two) { return value & ~(power_of_two - 1); }
constexpr uint64_t align_up(uint64_t value, uint64_t power_of_two) {
  return (value + power_of_two - 1) & ~(power_of_two - 1);
}

// The console's page size (guest-visible mapping granularity).
inline constexpr uint64_t kGuestPage = 0x4000;

}  // namespace orrery

template <class Tag>
struct std::hash<orrery::Position<Tag>> {
  size_t operator()(orrery::Position<Tag> p) const noexcept { return std::hash<uint64_t>{}(p.value); }
};
