// The checked copies and the published map: what reads the list of windows without changing it.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>

#include "guest-host/memory/guest_memory.hpp"

namespace orrery::memory {

namespace {

// The first address of the range that is not mapped with all of `protection`; nothing when all is. Under the lock.
std::optional<GuestAddress> first_gap(const std::map<uint64_t, Window>& windows, GuestAddress begin, Bytes size,
                                      uint32_t protection) {
  if (size.value > ~begin.value) return begin;
  const GuestAddress end = begin + size;
  GuestAddress reached = begin;
  auto it = windows.upper_bound(begin.value);
  if (it == windows.begin()) return begin;
  for (it = std::prev(it); reached < end; ++it) {
    if (it == windows.end()) return reached;
    const Window& window = it->second;
    if (window.begin > reached || window.end() <= reached || window.reserved ||
        (window.protection & protection) != protection) {
      return reached;
    }
    reached = window.end();
  }
  return {};
}

}  // namespace

bool GuestMemory::covers(GuestAddress begin, Bytes size, uint32_t protection) const {
  std::shared_lock lock(mutex_);
  return size.value == 0 || !first_gap(windows_, begin, size, protection);
}

Result<void> GuestMemory::read(GuestAddress from, std::span<std::byte> to) const {
  if (to.empty()) return {};
  std::shared_lock lock(mutex_);
  if (auto gap = first_gap(windows_, from, {to.size()}, kCpuRead)) {
    return fail(ExitCode::guest_fault, "cannot read {:#x}+{:#x}: {:#x} is not mapped readable", from.value, to.size(),
                gap->value);
  }
  std::memcpy(to.data(), reinterpret_cast<const void*>(from.value), to.size());
  return {};
}

Result<void> GuestMemory::write(GuestAddress to, std::span<const std::byte> from) {
  if (from.empty()) return {};
  std::shared_lock lock(mutex_);
  if (auto gap = first_gap(windows_, to, {from.size()}, kCpuWrite)) {
    return fail(ExitCode::guest_fault, "cannot write {:#x}+{:#x}: {:#x} is not mapped writable", to.value, from.size(),
                gap->value);
  }
  std::memcpy(reinterpret_cast<void*>(to.value), from.data(), from.size());
  return {};
}

Result<std::string> GuestMemory::read_string(GuestAddress from, size_t limit) const {
  std::shared_lock lock(mutex_);
  std::string text;
  GuestAddress at = from;
  while (text.size() < limit) {
    if (first_gap(windows_, at, {1}, kCpuRead)) {
      return fail(ExitCode::guest_fault, "cannot read a string at {:#x}: {:#x} is not mapped readable", from.value,
                  at.value);
    }
    const uint64_t page_rest = kGuestPage - at.value % kGuestPage;
    const auto* bytes = reinterpret_cast<const char*>(at.value);
    const size_t here = std::min<size_t>(page_rest, limit - text.size());
    const void* const zero = std::memchr(bytes, 0, here);
    if (zero != nullptr) {
      text.append(bytes, static_cast<const char*>(zero));
      return text;
    }
    text.append(bytes, here);
    at = at + Bytes{here};
  }
  return fail(ExitCode::guest_fault, "the string at {:#x} is longer than {} bytes", from.value, limit);
}

std::vector<MapEntry> GuestMemory::entries_locked() const {
  std::vector<MapEntry> all;
  for (const auto& [begin, window] : windows_) {
    if (window.reserved) continue;
    const auto kind = static_cast<uint32_t>(window.kind);
    if (!all.empty()) {
      MapEntry& last = all.back();
      if (last.guest_begin + last.size == begin && last.arena_offset + last.size == window.offset.value &&
          last.protection == window.protection && last.kind == kind) {
        last.size += window.size.value;
        continue;
      }
    }
    all.push_back({.guest_begin = begin,
                   .size = window.size.value,
                   .arena_offset = window.offset.value,
                   .protection = window.protection,
                   .kind = kind});
  }
  return all;
}

std::vector<MapEntry> GuestMemory::entries() const {
  std::shared_lock lock(mutex_);
  return entries_locked();
}

Result<void> GuestMemory::changed_map() {
  if (writer_ == nullptr) return {};
  auto version = writer_->publish(entries_locked());
  if (!version) return forward(std::move(version), "publishing the guest's address map");
  if (changed_) changed_(*version);
  return {};
}

Result<void> GuestMemory::publish_to(protocol::AddressMapWriter* writer, std::function<void(uint64_t)> changed) {
  const std::unique_lock lock(mutex_);
  writer_ = writer;
  changed_ = std::move(changed);
  return changed_map();
}

}  // namespace orrery::memory
