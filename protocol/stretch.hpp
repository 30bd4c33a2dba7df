// One stretch at a time crosses from the service to the guest process: the service writes into the redo memory what the
// stretch changed and what is to be published, marks it executed with one store; the guest process applies it and marks
// it retired with another. A death of the service at any instant leaves it executed whole, or not at all.
//
// The redo memory is a sparse file of the guest process: the record of the stretch in flight, then for each queue two
// places for the contents of indirect buffers that its checkpoint stands in.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "protocol/segment_layout.hpp"
#include "protocol/stretch_layout.hpp"
#include "shared/error.hpp"
#include "shared/quantity.hpp"

namespace orrery::protocol {

// Bytes of the redo memory that goes with an arena.
Bytes redo_memory_size(Bytes arena);

// The service's side.
class StretchWriter {
 public:
  // `redo`: the whole redo memory.
  StretchWriter(StretchSlot& slot, std::span<std::byte> redo, Bytes arena);

  // The first deed of a stretch comes: from now on a death counts against it.
  void begin();
  uint64_t number() const { return number_; }  // of the stretch that is being made
  bool empty() const { return used_ == 0; }

  // What the stretch leaves, in the order in which it is to be seen. Error: there is no room (no real stretch needs
  // it).
  Result<void> bytes(ArenaOffset to, std::span<const std::byte> bytes);
  // The bytes of a page (4 KiB) that differ from their twin.
  Result<void> changed(ArenaOffset page, std::span<const std::byte> now, std::span<const std::byte> twin);
  Result<void> queue_event(uint32_t queue, uint32_t context_id);
  Result<void> done(uint64_t sequence);  // a journal entry is done
  void quarantined() { flags_ |= kStretchQuarantined; }
  void direct() { flags_ |= kStretchDirect; }  // stored some of its bytes where running it again is harmless

  // The journal entry that the stretch is part of.
  void part_of(uint64_t sequence) { sequence_ = sequence; }
  // Lives died in this stretch: what may have killed them is to be found.
  bool careful() const { return slot_.careful.load(std::memory_order_relaxed) == number_; }
  bool wary() const { return slot_.careful.load(std::memory_order_relaxed) != 0; }  // or did lately; by any thread

  // Marks the stretch executed and waits until it is retired; `gone` is asked now and then. Error peer_gone.
  Result<void> commit(const std::function<bool()>& gone);

  // Where a queue's checkpoint keeps the contents of its indirect buffers.
  std::span<std::byte> fetched(uint32_t queue, uint32_t slot) const;

 private:
  std::byte* room(uint64_t bytes);
  Result<void> item(StretchItem kind, uint64_t a, uint64_t b, std::span<const std::byte> payload);

  StretchSlot& slot_;
  std::span<std::byte> redo_;
  uint64_t capacity_;  // of the record
  uint64_t used_ = 0;
  uint64_t number_ = 1, sequence_ = 0;
  uint32_t flags_ = 0;
  bool begun_ = false;
};

// What is to be told when a stretch is retired.
struct StretchEvent {
  uint32_t queue, context_id;
};
struct StretchDone {
  uint64_t sequence;
};
using StretchEffect = std::variant<StretchEvent, StretchDone>;

// A retired stretch.
struct RetiredStretch {
  uint64_t number = 0;
  bool replayed = false;  // an earlier life had begun it
  bool quarantined = false, direct = false;
  uint64_t bytes = 0;     // that were applied
  uint64_t sequence = 0;  // of the journal entry it is part of
  std::vector<StretchEffect> effects;
};

// The guest process's side. Believes nothing: a record that makes no sense is an error, and none of it is applied.
class StretchCommitter {
 public:
  StretchCommitter(StretchSlot& slot, Ledger& ledger, std::span<std::byte> redo, std::span<std::byte> arena);

  // Sleeps until a stretch is executed, at most so long.
  void wait(std::chrono::milliseconds limit);
  // Applies the executed stretch, if there is one. After an error the stretch counts as never executed.
  Result<std::optional<RetiredStretch>> take();
  // Marks it retired and enters it in the ledger: the service goes on. After its effects were published.
  void retire(const RetiredStretch& stretch);
  // A life is gone and what it executed was taken. `of_itself`: nobody ended it. Answers how many that ended of
  // themselves did so in the stretch that it had begun; 0: it had begun none.
  uint32_t life_ended(bool of_itself = true);
  uint64_t retired() const { return retired_; }

 private:
  enum class Fate : uint8_t { first_time, replayed, quarantined };
  static void count(StretchCounts& counts, Fate fate);

  StretchSlot& slot_;
  Ledger& ledger_;
  std::map<uint64_t, Fate> entries_;  // that are not done; the worst fate of their stretches
  std::span<std::byte> redo_, arena_;
  uint64_t capacity_;
  uint64_t retired_ = 0;
  uint64_t died_in_ = 0;
  uint32_t deaths_ = 0;
};

}  // namespace orrery::protocol
