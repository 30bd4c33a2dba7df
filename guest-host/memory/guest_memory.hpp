// The console's unified memory: one sparse memory file (the arena), windows of it mapped at the guest's virtual
// addresses, and the sorted list of windows that the GPU service reads. Guest address == host address inside
// orrery-guest. Everything here may be called from any thread.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "guest-host/memory/fault_watch.hpp"
#include "guest-host/memory/range_allocator.hpp"
#include "protocol/address_map.hpp"
#include "protocol/reported_writes.hpp"
#include "shared/error.hpp"
#include "shared/quantity.hpp"
#include "shared/unique_fd.hpp"
#include "shared/write_watch.hpp"

namespace orrery::memory {

using protocol::MapEntry;
using protocol::MapKind;

// The console's protection bits (guest-abi.md 7, T1).
inline constexpr uint32_t kCpuRead = 1;
inline constexpr uint32_t kCpuWrite = 2;
inline constexpr uint32_t kCpuExecute = 4;
inline constexpr uint32_t kGpuRead = 0x10;
inline constexpr uint32_t kGpuWrite = 0x20;
inline constexpr uint32_t kKnownProtection = 0x37;
// mmap(2) protection for the console's. Bits for the GPU alone give no CPU access.
int host_protection(uint32_t guest_protection);

// Where things go in the guest's address space; all below 2^40, so that the GPU can address them.
struct GuestLayout {
  static GuestLayout standard();
  GuestAddress image;     // where executables are loaded, 0x4_0000_0000
  GuestAddress anywhere;  // first address for maps whose place the title leaves open, 0x2_0000_0000
  GuestAddress internal;  // stacks, TLS, heap
  GuestAddress end;       // 2^40
};

struct MapRequest {
  MapKind kind = MapKind::other;
  Bytes size;  // rounded up to 16 KiB
  uint32_t protection = kCpuRead | kCpuWrite;
  GuestAddress address;               // 0: anywhere; otherwise the wish, or the order when fixed
  bool fixed = false;                 // exactly there, replacing reservations and windows that are in the way
  bool keep_existing = false;         // with fixed: refuse instead of replacing a window
  Bytes alignment = {kGuestPage};     // for places we choose; a power of two, at least 16 KiB
  std::optional<ArenaOffset> offset;  // direct memory: the physical offset; otherwise zeroed memory is allocated
  std::string name;                   // for reports and sceKernelVirtualQuery
};

struct Window {
  GuestAddress begin;
  Bytes size;
  ArenaOffset offset;
  uint32_t protection = 0;
  MapKind kind = MapKind::other;
  bool reserved = false;  // address space only, no memory
  std::string name;
  GuestAddress end() const { return begin + size; }
};

class GuestMemory {
 public:
  // `arena_size` bytes, of which the last quarter holds what is not direct memory (image, stacks, heap, flexible).
  static Result<std::unique_ptr<GuestMemory>> create(Bytes arena_size, GuestLayout layout = GuestLayout::standard());
  ~GuestMemory();
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;

  const UniqueFd& arena() const { return arena_; }
  Bytes arena_size() const { return arena_size_; }
  // Direct memory: physical offsets 0 .. direct_size() are arena offsets 0 .. direct_size().
  Bytes direct_size() const { return direct_size_; }
  const GuestLayout& layout() const { return layout_; }

  // Reserves physical memory in [search_begin, search_end). Nothing when there is no such range.
  std::optional<ArenaOffset> allocate_direct(ArenaOffset search_begin, ArenaOffset search_end, Bytes size,
                                             Bytes alignment);
  // Gives it back and unmaps every window of it. Error when it is not allocated throughout.
  Result<void> release_direct(ArenaOffset offset, Bytes size);
  // The largest free physical range of [search_begin, search_end).
  std::optional<Range> largest_free_direct(ArenaOffset search_begin, ArenaOffset search_end, Bytes alignment) const;
  Bytes flexible_free() const;

  // Maps memory; answers where. The same physical offset mapped twice aliases.
  Result<GuestAddress> map(const MapRequest& request);
  // Takes address space without memory.
  Result<GuestAddress> reserve(Bytes size, GuestAddress wish, bool fixed, Bytes alignment);
  // Unmaps whatever lies in the range (16 KiB granularity).
  Result<void> unmap(GuestAddress begin, Bytes size);
  // Error when a part of the range is not mapped.
  Result<void> protect(GuestAddress begin, Bytes size, uint32_t protection);

  // The window that holds the address, or with `next` the first one behind it.
  std::optional<Window> find(GuestAddress address, bool next = false) const;
  std::vector<MapEntry> entries() const;

  // True when every byte of the range is mapped with all the bits of `protection`.
  bool covers(GuestAddress begin, Bytes size, uint32_t protection) const;
  // Checked copies for code that serves the guest: an error (guest_fault) instead of a crash when a byte is not mapped
  // readable or writable. Writes go through the guest's own window, so that write tracking sees them.
  Result<void> read(GuestAddress from, std::span<std::byte> to) const;
  Result<void> write(GuestAddress to, std::span<const std::byte> from);
  // A zero-terminated string of at most `limit` bytes.
  Result<std::string> read_string(GuestAddress from, size_t limit = 4096) const;
  template <class T>
    requires std::is_trivially_copyable_v<T>
  Result<T> read_value(GuestAddress from) const {
    T value{};
    if (auto done = read(from, std::as_writable_bytes(std::span(&value, 1))); !done) {
      return std::unexpected(std::move(done.error()));
    }
    return value;
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  Result<void> write_value(GuestAddress to, const T& value) {
    return write(to, std::as_bytes(std::span(&value, 1)));
  }

  // Why a range must not be written by GPU work any more.
  enum class Settle : uint8_t {
    change,  // it is about to be unmapped, protected or replaced: all work that may write it has to be done
    read,    // it is read on the title's behalf: so has work that is known to write it
  };
  // From now on called, without any lock, before either. Called once, before guest threads start.
  void settle_before(std::function<void(GuestAddress begin, Bytes size, Settle why)> settle) {
    settle_ = std::move(settle);
  }
  // read() of data that GPU work may have been asked to make.
  Result<void> read_settled(GuestAddress from, std::span<std::byte> to) const {
    settled(from, {to.size()}, Settle::read);
    return read(from, to);
  }

  // From now on every change is published there and `changed` is called with the new version (under the memory's lock:
  // it must not call back). Publishes the present map at once. Called once, before guest threads start.
  Result<void> publish_to(protocol::AddressMapWriter* writer, std::function<void(uint64_t version)> changed);
  // From now on memory that changes without a window being written is reported there: what a new window shows, what is
  // given back to the host. Called once, before guest threads start.
  void report_to(protocol::ReportedWritesWriter* reports) { reports_ = reports; }
  // Registers every window, now and at each change, so that the title's writes can be harvested. Error: the host
  // refuses.
  Result<void> watch_writes(WriteWatch watch);
  // Or has writes found by faults; the watch must outlive the memory. Called once, before guest threads start.
  void watch_by_faults(FaultWatch& watch);
  // Write-protects what windows show of the range until it is next written. With watch_by_faults only.
  void arm(GuestAddress begin, GuestAddress end);

 private:
  GuestMemory(UniqueFd arena, Bytes arena_size, GuestLayout layout);
  Result<GuestAddress> choose_place(Bytes size, GuestAddress wish, Bytes alignment, MapKind kind) const;
  void settled(GuestAddress begin, Bytes size, Settle why) const {
    if (settle_) settle_(begin, size, why);
  }
  // Where windows show direct memory.
  std::vector<std::pair<GuestAddress, Bytes>> windows_of(ArenaOffset offset, Bytes size) const;
  Result<void> clear_range(GuestAddress begin, Bytes size);
  bool overlaps(GuestAddress begin, Bytes size) const;
  void give_back(const Window& window);
  void discard(ArenaOffset offset, Bytes size);
  std::vector<MapEntry> entries_locked() const;
  Result<void> changed_map();

  UniqueFd arena_;
  Bytes arena_size_;
  Bytes direct_size_;
  GuestLayout layout_;
  mutable std::shared_mutex mutex_;
  RangeAllocator direct_;
  RangeAllocator internal_;
  std::map<uint64_t, Window> windows_;  // by begin
  std::optional<WriteWatch> watch_;
  FaultWatch* faults_ = nullptr;
  protocol::ReportedWritesWriter* reports_ = nullptr;
  protocol::AddressMapWriter* writer_ = nullptr;
  std::function<void(uint64_t)> changed_;
  std::function<void(GuestAddress, Bytes, Settle)> settle_;
};

}  // namespace orrery::memory
