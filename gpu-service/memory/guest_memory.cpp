#include "gpu-service/memory/guest_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace orrery::memory {
namespace {

// Bytes from `address` to the end of `entry`, never wrapping: entries are checked when they are taken.
uint64_t bytes_left(const protocol::MapEntry& entry, uint64_t address) {
  return entry.size - (address - entry.guest_begin);
}

std::unexpected<Error> unmapped(GuestAddress address, uint64_t size, const char* doing) {
  return fail(ExitCode::internal, "{} {} bytes at guest address {:#x}: not all of it is mapped", doing, size,
              address.value);
}

// Calls visit(arena offset, bytes done before, bytes of this part) for each part of the range, in order.
// False when a byte is unmapped; the parts in front of it have been visited.
template <class Visit>
bool visit_parts(std::span<const protocol::MapEntry> entries, GuestAddress address, uint64_t size, Visit&& visit) {
  uint64_t done = 0;
  while (done < size) {
    if (address.value > UINT64_MAX - done) return false;
    const GuestAddress here{address.value + done};
    const protocol::MapEntry* entry = protocol::find_entry(entries, here);
    if (entry == nullptr) return false;
    const uint64_t part = std::min(size - done, bytes_left(*entry, here.value));
    visit(entry->arena_offset + (here.value - entry->guest_begin), done, part);
    done += part;
  }
  return true;
}

}  // namespace

GuestMemory::GuestMemory(std::span<std::byte> arena, protocol::AddressMapReader map)
    : arena_(arena), map_(std::move(map)) {}

Result<void> GuestMemory::refresh() {
  if (!stale()) return {};
  uint64_t version = 0;
  auto snapshot = map_.snapshot(&version);
  if (!snapshot) return forward(std::move(snapshot), "reading the address map");
  // The reader checks against the arena size it was told; what counts here is what is mapped into this process.
  for (const auto& entry : *snapshot) {
    if (entry.size == 0 || entry.size > arena_.size() || entry.arena_offset > arena_.size() - entry.size ||
        entry.guest_begin > UINT64_MAX - entry.size) {
      return fail(ExitCode::protocol_mismatch,
                  "the address map's entry at {:#x} ({} bytes, arena {:#x}) leaves the arena", entry.guest_begin,
                  entry.size, entry.arena_offset);
    }
  }
  entries_ = std::move(*snapshot);
  version_ = version;
  return {};
}

bool GuestMemory::mapped(GuestAddress address, Bytes size) const {
  return visit_parts(entries_, address, std::max<uint64_t>(size.value, 1), [](uint64_t, uint64_t, uint64_t) {});
}

std::optional<std::vector<Piece>> GuestMemory::pieces(GuestAddress address, Bytes size) const {
  std::vector<Piece> found;
  const bool whole = visit_parts(entries_, address, size.value, [&](uint64_t offset, uint64_t done, uint64_t part) {
    if (!found.empty() && found.back().offset.value + found.back().size.value == offset) {
      found.back().size.value += part;
    } else {
      found.push_back({{address.value + done}, {offset}, {part}});
    }
  });
  if (!whole) return std::nullopt;
  return found;
}

Result<void> GuestMemory::read(GuestAddress address, std::span<std::byte> out) const {
  if (!out.empty() && !mapped(address, {out.size()})) return unmapped(address, out.size(), "reading");
  visit_parts(entries_, address, out.size(), [&](uint64_t offset, uint64_t done, uint64_t part) {
    std::memcpy(out.data() + done, arena_.data() + offset, part);
  });
  return {};
}

Result<void> GuestMemory::write(GuestAddress address, std::span<const std::byte> bytes) const {
  if (!bytes.empty() && !mapped(address, {bytes.size()})) return unmapped(address, bytes.size(), "writing");
  Result<void> stored;
  visit_parts(entries_, address, bytes.size(), [&](uint64_t offset, uint64_t done, uint64_t part) {
    if (told_) told_({offset, offset + part});
    if (!taker_) {
      std::memcpy(arena_.data() + offset, bytes.data() + done, part);
    } else if (stored) {
      stored = taker_({offset}, bytes.subspan(done, part));
    }
  });
  return stored;
}

Result<uint32_t> GuestMemory::read_u32(GuestAddress address) const {
  uint32_t value = 0;
  ORRERY_TRY(read(address, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

Result<uint64_t> GuestMemory::read_u64(GuestAddress address) const {
  uint64_t value = 0;
  ORRERY_TRY(read(address, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

Result<void> GuestMemory::write_u32(GuestAddress address, uint32_t value) const {
  return write(address, std::as_bytes(std::span(&value, 1)));
}

Result<void> GuestMemory::write_u64(GuestAddress address, uint64_t value) const {
  return write(address, std::as_bytes(std::span(&value, 1)));
}

}  // namespace orrery::memory
