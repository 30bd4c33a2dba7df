// Guest memory that notes what was looked at, so that an answer worked out from it can be served again while memory
// still answers the same (docs/decisions/030).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu-service/memory/guest_memory.hpp"
#include "shared/content_hash.hpp"
#include "shared/quantity.hpp"

namespace orrery::memory {

struct GuestSpan {
  GuestAddress begin;
  Bytes size;
  friend auto operator<=>(const GuestSpan&, const GuestSpan&) = default;
};

// Copies guest bytes out once no recorded work can change them any more. False: not mapped, or the device is lost.
using SettledRead = std::function<bool(GuestAddress address, std::span<std::byte> out)>;

// More spans than this are not kept: checking them again would cost more than working the answer out.
inline constexpr size_t kMostNotedSpans = 65536;
inline constexpr uint64_t kMostNotedBytes = 64ull << 20;  // of read bytes, together

// What was looked at. Presence is apart from bytes: a span that was only asked to be mapped may change its contents.
struct MemoryNotes {
  struct Read {
    GuestSpan span;
    ContentHash hash;  // of the bytes that the reader got
  };
  std::vector<Read> read;           // sorted; spans that overlap or touch are merged
  std::vector<GuestSpan> mapped;    // found mapped throughout, bytes not looked at; sorted and merged likewise
  std::vector<GuestSpan> unmapped;  // found to have an unmapped byte; as asked, each once
  std::string not_checkable;        // why these notes can't prove anything later; empty: they can
};

class RecordingMemory {
 public:
  RecordingMemory(const GuestMemory& memory, SettledRead read) : memory_(memory), read_(std::move(read)) {}

  // Copies out and notes the bytes. False: notes that the span is not mapped throughout.
  bool read(GuestAddress address, std::span<std::byte> out);
  // Is the whole span mapped? Notes the answer; the bytes do not count. Size 0 asks for the address itself.
  bool mapped(GuestAddress address, Bytes size);
  uint64_t reads() const { return reads_; }
  // Was a byte of the span read? (Also true when too much was read to be noted.)
  bool has_read(GuestSpan span) const;

  MemoryNotes take_notes();

 private:
  void note_read(uint64_t begin, std::span<const std::byte> bytes);
  void note_unmapped(GuestSpan span);
  void give_up(const char* why);
  size_t spans() const { return bytes_.size() + mapped_.size() + unmapped_.size(); }

  const GuestMemory& memory_;
  SettledRead read_;
  std::map<uint64_t, std::vector<std::byte>> bytes_;  // by begin; apart, never touching
  std::map<uint64_t, uint64_t> mapped_;               // begin to end; apart, never touching
  std::set<GuestSpan> unmapped_;
  uint64_t kept_bytes_ = 0, reads_ = 0;
  const char* given_up_ = nullptr;
};

// Does memory still answer as noted?
enum class NotesCheck : uint8_t { same, may_still_change, bytes_changed, no_longer_mapped, now_mapped };
// `may_change`: recorded work that is not yet complete may write there. `read_spans` counts the spans that were hashed.
NotesCheck check_notes(const MemoryNotes& notes, const GuestMemory& memory,
                       const std::function<bool(GuestSpan)>& may_change, uint64_t& read_spans);

}  // namespace orrery::memory
