#include "gpu-service/memory/recording_memory.hpp"

#include <algorithm>
#include <cstring>

namespace orrery::memory {

void RecordingMemory::give_up(const char* why) {
  // What was kept is of no use any more, and a trace that reads without end must not fill the host's memory.
  given_up_ = why;
  bytes_.clear();
  mapped_.clear();
  unmapped_.clear();
}

bool RecordingMemory::read(GuestAddress address, std::span<std::byte> out) {
  ++reads_;
  if (!read_(address, out)) {
    note_unmapped({address, {out.size()}});
    return false;
  }
  note_read(address.value, out);
  return true;
}

bool RecordingMemory::mapped(GuestAddress address, Bytes size) {
  if (!memory_.mapped(address, size)) {
    note_unmapped({address, size});
    return false;
  }
  if (given_up_ != nullptr) return true;
  uint64_t begin = address.value, end = begin + std::max<uint64_t>(size.value, 1);
  auto next = mapped_.upper_bound(begin);
  if (next != mapped_.begin() && std::prev(next)->second >= begin) --next;
  while (next != mapped_.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = mapped_.erase(next);
  }
  mapped_.emplace(begin, end);
  if (spans() > kMostNotedSpans) give_up("it looked at too many places");
  return true;
}

bool RecordingMemory::has_read(GuestSpan span) const {
  if (given_up_ != nullptr) return true;
  if (span.size.value == 0) return false;
  const uint64_t last = span.begin.value + (span.size.value - 1);
  const auto behind = bytes_.upper_bound(last);
  if (behind == bytes_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(behind);
  return begin + bytes.size() > span.begin.value;
}

void RecordingMemory::note_unmapped(GuestSpan span) {
  if (given_up_ != nullptr) return;
  unmapped_.insert(span);
  if (spans() > kMostNotedSpans) give_up("it looked at too many places");
}

void RecordingMemory::note_read(uint64_t begin, std::span<const std::byte> bytes) {
  if (given_up_ != nullptr || bytes.empty()) return;
  const uint64_t end = begin + bytes.size();
  // The noted span that holds or touches `begin`, or a new one.
  auto at = bytes_.upper_bound(begin);
  if (at != bytes_.begin() && std::prev(at)->first + std::prev(at)->second.size() >= begin) {
    --at;
  } else {
    at = bytes_.emplace_hint(at, begin, std::vector<std::byte>{});
  }
  std::vector<std::byte>& kept = at->second;
  const auto known = [&] { return at->first + kept.size(); };
  const auto differs = [&](uint64_t from, uint64_t to) {
    return from < to && std::memcmp(kept.data() + (from - at->first), bytes.data() + (from - begin), to - from) != 0;
  };
  if (differs(begin, std::min(end, known()))) return give_up("what it read changed while it was read");
  // What follows, piece by piece: unknown bytes are taken from the reader, known ones move over from the next span.
  while (known() < end) {
    const auto next = std::next(at);
    const uint64_t until = next == bytes_.end() ? end : std::min(end, next->first);
    const uint64_t from = known();
    kept.insert(kept.end(), bytes.begin() + static_cast<ptrdiff_t>(from - begin),
                bytes.begin() + static_cast<ptrdiff_t>(until - begin));
    kept_bytes_ += until - from;
    if (next == bytes_.end() || next->first > end) break;
    const uint64_t joined = known();
    kept.insert(kept.end(), next->second.begin(), next->second.end());
    bytes_.erase(next);
    if (differs(joined, std::min(end, known()))) return give_up("what it read changed while it was read");
  }
  if (kept_bytes_ > kMostNotedBytes) give_up("it read too many bytes");
  if (spans() > kMostNotedSpans) give_up("it looked at too many places");
}

MemoryNotes RecordingMemory::take_notes() {
  MemoryNotes notes;
  if (given_up_ != nullptr) {
    notes.not_checkable = given_up_;
    return notes;
  }
  notes.read.reserve(bytes_.size());
  for (const auto& [begin, bytes] : bytes_) notes.read.push_back({{{begin}, {bytes.size()}}, hash_bytes(bytes)});
  for (const auto& [begin, end] : mapped_) notes.mapped.push_back({{begin}, {end - begin}});
  notes.unmapped.assign(unmapped_.begin(), unmapped_.end());
  return notes;
}

NotesCheck check_notes(const MemoryNotes& notes, const GuestMemory& memory,
                       const std::function<bool(GuestSpan)>& may_change, uint64_t& read_spans) {
  for (const GuestSpan& span : notes.unmapped) {
    if (memory.mapped(span.begin, span.size)) return NotesCheck::now_mapped;
  }
  for (const GuestSpan& span : notes.mapped) {
    if (!memory.mapped(span.begin, span.size)) return NotesCheck::no_longer_mapped;
  }
  std::vector<std::byte> bytes;
  for (const auto& read : notes.read) {
    if (!memory.mapped(read.span.begin, read.span.size)) return NotesCheck::no_longer_mapped;
    if (may_change(read.span)) return NotesCheck::may_still_change;
    bytes.resize(read.span.size.value);
    ++read_spans;
    if (!memory.read(read.span.begin, bytes)) return NotesCheck::no_longer_mapped;
    if (hash_bytes(bytes) != read.hash) return NotesCheck::bytes_changed;
  }
  return NotesCheck::same;
}

}  // namespace orrery::memory
