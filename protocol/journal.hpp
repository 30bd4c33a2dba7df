// The journal of accepted submissions and flips, owned by the guest process. One writer (the guest process, under its
// own lock), one executor (the current life of the service).
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "protocol/segment_layout.hpp"
#include "shared/error.hpp"

namespace orrery::protocol {

// A journal entry copied out and checked.
struct EntryCopy {
  EntryKind kind{};
  uint64_t sequence = 0;
  uint32_t queue = 0;
  uint64_t guest_time_ns = 0;
  std::vector<std::byte> body;
};

// The guest process's side.
class JournalWriter {
 public:
  JournalWriter(std::span<std::byte> entries, std::span<std::byte> bodies);
  // Appends an entry and answers its sequence number, or nothing while the journal is full (the caller waits for
  // retirements: back-pressure, "queue full"). The body is made of the pieces, one behind the other.
  std::optional<uint64_t> try_append(EntryKind kind, uint32_t queue, uint64_t guest_time_ns,
                                     std::span<const std::span<const std::byte>> body_pieces);
  // Frees what is retired, oldest first. Answers how many entries are still open.
  uint64_t reclaim();
  bool retired(uint64_t sequence) const;
  // The entry is done; it never runs again.
  void mark_retired(uint64_t sequence);
  uint64_t last_sequence() const { return next_ - 1; }
  // Bytes of the largest body that can ever fit.
  uint64_t largest_body() const;

 private:
  JournalEntry* entries_;
  std::byte* bodies_;
  uint64_t body_capacity_;
  uint64_t next_ = 1;       // next sequence
  uint64_t oldest_ = 1;     // oldest not yet reclaimed
  uint64_t body_head_ = 0;  // monotonic positions into the body ring
  uint64_t body_tail_ = 0;
};

// The service's side. Every index and size is checked; a damaged entry is an error, never a stray access.
class JournalReader {
 public:
  JournalReader(std::span<std::byte> entries, std::span<std::byte> bodies);
  Result<EntryCopy> read(uint64_t sequence) const;
  // It is submitted and not retired.
  bool open(uint64_t sequence) const;
  // It was submitted at some time, whatever became of it.
  bool reached(uint64_t sequence) const;
  // The newest that was; 0 when none was. Looks at every slot.
  uint64_t newest() const;
  // Sequences submitted and not retired, in order: what a new life has to run.
  std::vector<uint64_t> open_entries() const;

 private:
  JournalEntry* entries_;
  std::byte* bodies_;
  uint64_t body_capacity_;
};

}  // namespace orrery::protocol
