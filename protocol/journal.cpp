#include "protocol/journal.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "shared/quantity.hpp"

namespace orrery::protocol {
namespace {

JournalEntry& slot(JournalEntry* entries, uint64_t sequence) { return entries[sequence % kJournalEntries]; }

// One read of a plain field that the other process may change at any time.
template <class T>
T load_once(T& field) {
  return std::atomic_ref(field).load(std::memory_order_relaxed);
}

// A body starts at a multiple of this, so that its structures are aligned.
constexpr uint64_t kBodyAlign = 16;

}  // namespace

JournalWriter::JournalWriter(std::span<std::byte> entries, std::span<std::byte> bodies)
    : entries_(reinterpret_cast<JournalEntry*>(entries.data())),
      bodies_(bodies.data()),
      body_capacity_(bodies.size()) {}

uint64_t JournalWriter::largest_body() const { return body_capacity_ / 2; }

std::optional<uint64_t> JournalWriter::try_append(EntryKind kind, uint32_t queue, uint64_t guest_time_ns,
                                                  std::span<const std::span<const std::byte>> body_pieces) {
  reclaim();
  uint64_t size = 0;
  for (const auto piece : body_pieces) size += piece.size();
  if (size > largest_body() || next_ - oldest_ >= kJournalEntries) return std::nullopt;
  // A body never wraps: skip to the start of the ring when the end is too near.
  uint64_t position = align_up(body_head_, kBodyAlign);
  if (position % body_capacity_ + size > body_capacity_) position = align_up(position, body_capacity_);
  if (position + size - body_tail_ > body_capacity_) return std::nullopt;

  JournalEntry& entry = slot(entries_, next_);
  entry.state.store(static_cast<uint32_t>(EntryState::writing), std::memory_order_relaxed);
  entry.kind = static_cast<uint32_t>(kind);
  // Behind the state, for reached().
  std::atomic_ref(entry.sequence).store(next_, std::memory_order_release);
  entry.queue = queue;
  entry.guest_time_ns = guest_time_ns;
  entry.body_position = position;
  entry.body_size = size;
  std::byte* to = bodies_ + position % body_capacity_;
  for (const auto piece : body_pieces) {
    if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  }
  body_head_ = position + size;
  entry.state.store(static_cast<uint32_t>(EntryState::submitted), std::memory_order_release);
  return next_++;
}

uint64_t JournalWriter::reclaim() {
  while (oldest_ < next_) {
    JournalEntry& entry = slot(entries_, oldest_);
    if (entry.state.load(std::memory_order_acquire) != static_cast<uint32_t>(EntryState::retired)) break;
    ++oldest_;
    // Our own entries were written by us alone, but the page is shared: never let it move the tail backwards or past
    // the head.
    body_tail_ = std::clamp(load_once(entry.body_position) + load_once(entry.body_size), body_tail_, body_head_);
  }
  if (oldest_ == next_) body_tail_ = body_head_;
  uint64_t open = 0;
  for (uint64_t s = oldest_; s < next_; ++s) {
    if (slot(entries_, s).state.load(std::memory_order_relaxed) != static_cast<uint32_t>(EntryState::retired)) ++open;
  }
  return open;
}

bool JournalWriter::retired(uint64_t sequence) const {
  if (sequence < oldest_) return true;
  if (sequence >= next_) return false;
  return slot(entries_, sequence).state.load(std::memory_order_acquire) == static_cast<uint32_t>(EntryState::retired);
}

JournalReader::JournalReader(std::span<std::byte> entries, std::span<std::byte> bodies)
    : entries_(reinterpret_cast<JournalEntry*>(entries.data())),
      bodies_(bodies.data()),
      body_capacity_(bodies.size()) {}

Result<EntryCopy> JournalReader::read(uint64_t sequence) const {
  JournalEntry& entry = slot(entries_, sequence);
  const uint32_t state = entry.state.load(std::memory_order_acquire);
  // One read of each field: the guest process could change them between a check and a use.
  const uint64_t found = load_once(entry.sequence), position = load_once(entry.body_position);
  const uint64_t size = load_once(entry.body_size), guest_time_ns = load_once(entry.guest_time_ns);
  const uint32_t kind = load_once(entry.kind), queue = load_once(entry.queue);
  if (state != static_cast<uint32_t>(EntryState::submitted) || found != sequence) {
    return fail(ExitCode::protocol_mismatch, "journal entry {} is not submitted (state {}, holds sequence {})",
                sequence, state, found);
  }
  const uint64_t at = position % body_capacity_;
  if (size > body_capacity_ || at + size > body_capacity_ || queue >= kMaxQueues ||
      (kind != static_cast<uint32_t>(EntryKind::submission) && kind != static_cast<uint32_t>(EntryKind::flip))) {
    return fail(ExitCode::protocol_mismatch, "journal entry {} is damaged (kind {}, queue {}, {} bytes at {})",
                sequence, kind, queue, size, position);
  }
  EntryCopy copy;
  copy.kind = static_cast<EntryKind>(kind);
  copy.sequence = sequence;
  copy.queue = queue;
  copy.guest_time_ns = guest_time_ns;
  copy.body.assign(bodies_ + at, bodies_ + at + size);
  return copy;
}

std::vector<uint64_t> JournalReader::open_entries() const {
  std::vector<uint64_t> open;
  for (uint32_t i = 0; i < kJournalEntries; ++i) {
    if (entries_[i].state.load(std::memory_order_acquire) == static_cast<uint32_t>(EntryState::submitted)) {
      open.push_back(load_once(entries_[i].sequence));
    }
  }
  std::sort(open.begin(), open.end());
  return open;
}

bool JournalReader::open(uint64_t sequence) const {
  const JournalEntry& entry = slot(entries_, sequence);
  return entry.state.load(std::memory_order_acquire) == static_cast<uint32_t>(EntryState::submitted) &&
         load_once(entry.sequence) == sequence;
}

bool JournalReader::reached(uint64_t sequence) const {
  JournalEntry& entry = slot(entries_, sequence);
  // In this order: who sees a new number sees that it is being written, or more.
  const uint64_t found = std::atomic_ref(entry.sequence).load(std::memory_order_acquire);
  const uint32_t state = entry.state.load(std::memory_order_acquire);
  // A slot that is being filled again held an older entry, which is done.
  return found > sequence || (found == sequence && state != static_cast<uint32_t>(EntryState::writing));
}

uint64_t JournalReader::newest() const {
  uint64_t newest = 0;
  for (uint32_t i = 0; i < kJournalEntries; ++i) {
    const uint64_t found = load_once(entries_[i].sequence);
    if (found > newest && found % kJournalEntries == i && reached(found)) newest = found;
  }
  return newest;
}

void JournalWriter::mark_retired(uint64_t sequence) {
  if (sequence < oldest_ || sequence >= next_) return;
  slot(entries_, sequence).state.store(static_cast<uint32_t>(EntryState::retired), std::memory_order_release);
}

}  // namespace orrery::protocol
