#include "protocol/address_map.hpp"

#include <algorithm>
#include <atomic>

#include "shared/futex.hpp"

namespace orrery::protocol {
namespace {

constexpr uint64_t kMapPage = 4096;

static_assert(sizeof(MapEntry) % sizeof(uint64_t) == 0);
constexpr size_t kEntryWords = sizeof(MapEntry) / sizeof(uint64_t);

// A table may be rewritten while it is read; word by word with release and acquire, a reader that got a new word also
// sees the version that announced it.
void store_table(MapEntry* to, std::span<const MapEntry> from) {
  auto* words = reinterpret_cast<uint64_t*>(to);
  const auto* source = reinterpret_cast<const uint64_t*>(from.data());
  for (size_t i = 0; i < from.size() * kEntryWords; ++i) {
    std::atomic_ref(words[i]).store(source[i], std::memory_order_release);
  }
}
void load_table(std::span<MapEntry> to, const MapEntry* from) {
  auto* words = reinterpret_cast<uint64_t*>(to.data());
  auto* source = reinterpret_cast<uint64_t*>(const_cast<MapEntry*>(from));  // atomic_ref takes no const in C++23
  for (size_t i = 0; i < to.size() * kEntryWords; ++i) {
    words[i] = std::atomic_ref(source[i]).load(std::memory_order_acquire);
  }
}

// Why a table can't be used, or nothing.
const char* fault_of(std::span<const MapEntry> sorted) {
  uint64_t end = 0;
  for (const MapEntry& entry : sorted) {
    if (entry.size == 0) return "an empty range";
    if (entry.guest_begin % kMapPage != 0 || entry.size % kMapPage != 0 || entry.arena_offset % kMapPage != 0) {
      return "a range that is not made of whole pages";
    }
    if (entry.guest_begin + entry.size < entry.guest_begin) return "a range that wraps around";
    if (entry.guest_begin < end) return "ranges that overlap or are not sorted";
    end = entry.guest_begin + entry.size;
  }
  return nullptr;
}

}  // namespace

AddressMapWriter::AddressMapWriter(std::span<std::byte> memory)
    : header_(reinterpret_cast<AddressMapHeader*>(memory.data())) {
  auto* first = reinterpret_cast<MapEntry*>(memory.data() + sizeof(AddressMapHeader));
  tables_[0] = first;
  tables_[1] = first + kMaxMapEntries;
}

Result<uint64_t> AddressMapWriter::publish(std::span<const MapEntry> sorted) {
  if (sorted.size() > kMaxMapEntries) {
    return fail(ExitCode::internal, "the title has {} mappings; the address map holds {}", sorted.size(),
                kMaxMapEntries);
  }
  if (const char* fault = fault_of(sorted)) return fail(ExitCode::internal, "address map refused: {}", fault);
  const uint64_t version = header_->version.load(std::memory_order_relaxed);
  const size_t next = (version / 2 + 1) % 2;
  // Odd while the other table is rewritten: a reader still copying that one sees the change and copies again.
  header_->version.store(version + 1, std::memory_order_relaxed);
  std::atomic_ref(header_->counts[next]).store(static_cast<uint32_t>(sorted.size()), std::memory_order_release);
  store_table(tables_[next], sorted);
  header_->version.store(version + 2, std::memory_order_release);
  return version + 2;
}

AddressMapReader::AddressMapReader(std::span<std::byte> memory, Bytes arena_size)
    : header_(reinterpret_cast<const AddressMapHeader*>(memory.data())), arena_size_(arena_size) {
  const auto* first = reinterpret_cast<const MapEntry*>(memory.data() + sizeof(AddressMapHeader));
  tables_[0] = first;
  tables_[1] = first + kMaxMapEntries;
}

uint64_t AddressMapReader::version() const { return header_->version.load(std::memory_order_acquire) & ~1ull; }

Result<std::vector<MapEntry>> AddressMapReader::snapshot(uint64_t* version) const {
  // The current table is rewritten only by the second publish behind this read, so a copy is torn only when the version
  // moved by three or more. A writer that never rests can't hold us for ever.
  constexpr int kTries = 1000;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const uint64_t before = header_->version.load(std::memory_order_acquire);
    const size_t current = (before / 2) % 2;
    const uint32_t count =
        std::atomic_ref(const_cast<uint32_t&>(header_->counts[current])).load(std::memory_order_acquire);
    if (count > kMaxMapEntries) return fail(ExitCode::protocol_mismatch, "address map damaged: {} entries", count);
    std::vector<MapEntry> entries(count);
    load_table(entries, tables_[current]);
    const uint64_t after = header_->version.load(std::memory_order_relaxed);
    if (after - (before & ~1ull) > 2) {
      spin_pause();
      continue;
    }
    if (const char* fault = fault_of(entries))
      return fail(ExitCode::protocol_mismatch, "address map damaged: {}", fault);
    for (const MapEntry& entry : entries) {
      if (entry.arena_offset > arena_size_.value || entry.size > arena_size_.value - entry.arena_offset) {
        return fail(ExitCode::protocol_mismatch, "address map damaged: {:#x} leaves the arena", entry.guest_begin);
      }
    }
    if (version != nullptr) *version = before & ~1ull;
    return entries;
  }
  return fail(ExitCode::protocol_mismatch, "the address map changed during each of {} reads", kTries);
}

const MapEntry* find_entry(std::span<const MapEntry> sorted, GuestAddress address) {
  auto after = std::upper_bound(sorted.begin(), sorted.end(), address.value,
                                [](uint64_t a, const MapEntry& e) { return a < e.guest_begin; });
  if (after == sorted.begin()) return nullptr;
  const MapEntry& entry = *std::prev(after);
  return address.value - entry.guest_begin < entry.size ? &entry : nullptr;
}

}  // namespace orrery::protocol
