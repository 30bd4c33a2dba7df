// Guest virtual range -> arena offset, protection, kind. One writer (the guest process, under its own lock); readers
// never block it and never see half a change.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "protocol/segment_layout.hpp"
#include "shared/error.hpp"
#include "shared/quantity.hpp"

namespace orrery::protocol {

// Bytes of the control segment that the map takes.
constexpr size_t address_map_memory() { return sizeof(AddressMapHeader) + 2 * sizeof(MapEntry) * kMaxMapEntries; }

class AddressMapWriter {
 public:
  explicit AddressMapWriter(std::span<std::byte> memory);
  // Publishes a whole new map: sorted, not overlapping (checked), at most kMaxMapEntries. Answers the new version.
  Result<uint64_t> publish(std::span<const MapEntry> sorted);

 private:
  AddressMapHeader* header_;
  MapEntry* tables_[2];
};

class AddressMapReader {
 public:
  explicit AddressMapReader(std::span<std::byte> memory, Bytes arena_size);
  uint64_t version() const;
  // A consistent copy; entries that are not sorted, overlap or leave the arena are an error (protocol_mismatch).
  Result<std::vector<MapEntry>> snapshot(uint64_t* version = nullptr) const;

 private:
  const AddressMapHeader* header_;
  const MapEntry* tables_[2];
  Bytes arena_size_;
};

// Looks an address up in a sorted snapshot.
const MapEntry* find_entry(std::span<const MapEntry> sorted, GuestAddress address);

}  // namespace orrery::protocol
