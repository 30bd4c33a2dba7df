// Which pages of guest memory changed since the last look, by contents, and one hash of all of them. Pages that were
// never touched are not looked at, so that a sparse arena costs nothing.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "protocol/segment_layout.hpp"
#include "shared/content_hash.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::capture {

inline constexpr uint64_t kPageBytes = 4096;

struct ChangedPage {
  uint64_t offset = 0;               // into the arena, a multiple of kPageBytes
  ContentHash hash;                  // of its bytes; all 0 where `zero`
  std::span<const std::byte> bytes;  // in the arena's mapping; empty where `zero`
  bool zero = false;                 // every byte is 0
};

// Of offsets and contents of all pages that are not zero, in any order.
struct MemoryHash {
  uint64_t low = 0, high = 0;
  friend bool operator==(const MemoryHash&, const MemoryHash&) = default;
};

class PageScan {
 public:
  // `arena` must outlive it.
  static Result<PageScan> of(const UniqueFd& arena, Bytes arena_size);

  // Pages of the mapped ranges that are not as they were at the last look (at first: that are not zero), in the order
  // of their offsets. Pages that no range maps stay as they were last seen. Their bytes may change once this has
  // returned.
  Result<std::vector<ChangedPage>> look(std::span<const protocol::MapEntry> map);
  // Of what the looks have seen.
  MemoryHash hash() const { return hash_; }
  std::span<std::byte> arena() const { return mapping_.bytes(); }

 private:
  struct Seen {
    ContentHash hash;
    uint64_t look = 0;
  };
  PageScan(const UniqueFd& arena, Mapping mapping) : arena_(&arena), mapping_(std::move(mapping)) {}
  void look_at(uint64_t offset, std::vector<ChangedPage>& changed);
  void set(uint64_t offset, const ContentHash& hash, bool zero);
  void add(uint64_t offset, const ContentHash& hash, bool away);

  const UniqueFd* arena_;
  Mapping mapping_;
  std::unordered_map<uint64_t, Seen> pages_;  // that are not zero, by offset
  uint64_t looks_ = 0;
  MemoryHash hash_;
};

}  // namespace orrery::capture
