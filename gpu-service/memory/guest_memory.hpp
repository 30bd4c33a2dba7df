// The service's checked view of guest memory: every address and length goes through the address map; contents are
// copied before anyone interprets them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gpu-service/memory/arena_range.hpp"
#include "protocol/address_map.hpp"
#include "shared/error.hpp"
#include "shared/quantity.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::memory {

// A contiguous piece of a guest range in the arena.
struct Piece {
  GuestAddress address;
  ArenaOffset offset;
  Bytes size;
};

class GuestMemory {
 public:
  // `arena` is the whole arena mapped into this process; `map` reads the address map of the control segment.
  GuestMemory(std::span<std::byte> arena, protocol::AddressMapReader map);

  // The same memory for another thread, which takes the map for itself (refresh() before the first use).
  GuestMemory another() const { return GuestMemory(arena_, map_); }

  // Takes the newest map. Called at acquire points (start of a submission, a map-changed message).
  Result<void> refresh();
  // The guest process has published a newer map. One load: cheap enough to ask at every poll.
  bool stale() const { return version_ == 0 || map_.version() != version_; }
  uint64_t version() const { return version_; }
  std::span<const protocol::MapEntry> entries() const { return entries_; }

  // Whole range mapped? (size 0: is the address itself mapped)
  bool mapped(GuestAddress address, Bytes size) const;
  // The range as arena pieces; nothing when a byte of it is unmapped. Touching entries that are contiguous in the arena
  // merge.
  std::optional<std::vector<Piece>> pieces(GuestAddress address, Bytes size) const;
  // Copies out / in. Error names address and size when a byte is unmapped; then nothing was copied.
  Result<void> read(GuestAddress address, std::span<std::byte> out) const;
  Result<void> write(GuestAddress address, std::span<const std::byte> bytes) const;
  Result<uint32_t> read_u32(GuestAddress address) const;
  Result<uint64_t> read_u64(GuestAddress address) const;
  Result<void> write_u32(GuestAddress address, uint32_t value) const;
  Result<void> write_u64(GuestAddress address, uint64_t value) const;

  std::span<std::byte> arena() const { return arena_; }
  // From now on every write() is told before it happens, with its arena ranges, so that copies of the arena can follow;
  // empty: nobody is.
  // From now on write() hands the bytes over instead of storing them; read() shows them once whoever takes them has
  // stored them. Empty: it stores.
  using TakeStore = std::function<Result<void>(ArenaOffset, std::span<const std::byte>)>;
  void hand_stores_to(TakeStore taker) { taker_ = std::move(taker); }
  void tell_stores_to(std::function<void(ArenaRange)> told) { told_ = std::move(told); }

 private:
  std::span<std::byte> arena_;
  std::function<void(ArenaRange)> told_;
  TakeStore taker_;
  protocol::AddressMapReader map_;
  std::vector<protocol::MapEntry> entries_;
  uint64_t version_ = 0;
};

}  // namespace orrery::memory
