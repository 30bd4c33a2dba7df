#include "guest-host/capture/page_scan.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace orrery::capture {
namespace {

struct Extent {
  uint64_t begin, end;
};

// The mapped parts of the arena, each once, whole pages.
std::vector<Extent> extents_of(std::span<const protocol::MapEntry> map, uint64_t arena_size) {
  std::vector<Extent> all;
  for (const auto& entry : map) {
    const uint64_t end = std::min(arena_size, entry.arena_offset + entry.size);
    if (entry.arena_offset < end) all.push_back({entry.arena_offset, end});
  }
  std::ranges::sort(all, {}, &Extent::begin);
  std::vector<Extent> merged;
  for (const Extent& extent : all) {
    if (!merged.empty() && extent.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, extent.end);
    } else {
      merged.push_back(extent);
    }
  }
  return merged;
}

bool all_zero(std::span<const std::byte> bytes) {
  return bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

Result<PageScan> PageScan::of(const UniqueFd& arena, Bytes arena_size) {
  auto mapping = Mapping::of(arena, Bytes{0}, arena_size);
  if (!mapping) return forward(std::move(mapping), "mapping the arena to look at its pages");
  return PageScan(arena, std::move(*mapping));
}

void PageScan::add(uint64_t offset, const ContentHash& hash, bool away) {
  const std::array<uint64_t, 3> words{offset, hash.low, hash.high};
  const ContentHash term = hash_bytes(std::as_bytes(std::span(words)));
  hash_.low += away ? -term.low : term.low;
  hash_.high += away ? -term.high : term.high;
}

void PageScan::set(uint64_t offset, const ContentHash& hash, bool zero) {
  const auto known = pages_.find(offset);
  if (known != pages_.end()) add(offset, known->second.hash, true);
  if (zero) {
    if (known != pages_.end()) pages_.erase(known);
    return;
  }
  add(offset, hash, false);
  pages_[offset] = {hash, looks_};
}

void PageScan::look_at(uint64_t offset, std::vector<ChangedPage>& changed) {
  const auto bytes = std::span<const std::byte>(mapping_.bytes()).subspan(offset, kPageBytes);
  const auto known = pages_.find(offset);
  if (all_zero(bytes)) {
    if (known == pages_.end()) return;
    set(offset, {}, true);
    changed.push_back({offset, {}, {}, true});
    return;
  }
  const ContentHash hash = hash_bytes(bytes);
  if (known != pages_.end() && known->second.hash == hash) {
    known->second.look = looks_;
    return;
  }
  set(offset, hash, false);
  changed.push_back({offset, hash, bytes, false});
}

Result<std::vector<ChangedPage>> PageScan::look(std::span<const protocol::MapEntry> map) {
  ++looks_;
  std::vector<ChangedPage> changed;
  const auto extents = extents_of(map, mapping_.size());
  for (const Extent& extent : extents) {
    // Reading a hole through the mapping would fill it: only what has pages is looked at.
    for (uint64_t at = extent.begin; at < extent.end;) {
      const off_t data = ::lseek(arena_->get(), static_cast<off_t>(at), SEEK_DATA);
      if (data < 0 && errno == ENXIO) break;
      const off_t hole = data < 0 ? data : ::lseek(arena_->get(), data, SEEK_HOLE);
      if (hole < 0) return fail(ExitCode::internal, "looking for the arena's pages: {}", std::strerror(errno));
      const uint64_t end = std::min(extent.end, static_cast<uint64_t>(hole));
      for (at = static_cast<uint64_t>(data); at < end; at += kPageBytes) look_at(at, changed);
      at = std::max(end, static_cast<uint64_t>(hole));
    }
  }
  // What was given back to the host reads as zero now.
  std::vector<uint64_t> gone;
  for (const auto& [offset, seen] : pages_) {
    if (seen.look == looks_) continue;
    const auto after = std::ranges::upper_bound(extents, offset, {}, &Extent::begin);
    if (after != extents.begin() && offset < std::prev(after)->end) gone.push_back(offset);
  }
  for (const uint64_t offset : gone) {
    set(offset, {}, true);
    changed.push_back({offset, {}, {}, true});
  }
  std::ranges::sort(changed, {}, &ChangedPage::offset);
  return changed;
}

}  // namespace orrery::capture
