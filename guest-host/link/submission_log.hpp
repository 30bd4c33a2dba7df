// The guest process's way into the journal: what a title submits is appended and announced to the current life of the
// service, if there is one. A new life reads the open entries itself. Safe from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "guest-host/link/submission_watcher.hpp"
#include "protocol/control_segment.hpp"
#include "protocol/journal.hpp"
#include "protocol/ring.hpp"

namespace orrery::link {

using protocol::EntryKind;
using Pieces = std::span<const std::span<const std::byte>>;

// The span "queue full": how often and how long submitters waited for the service.
struct QueueFull {
  uint64_t waits = 0;
  std::chrono::nanoseconds waited{};
};

class SubmissionLog {
 public:
  explicit SubmissionLog(const protocol::ControlSegment& segment);

  // Appends; waits (futex) while the journal is full. Errors: the body can never fit (usage), the run is ending
  // (peer_gone). Answers the sequence.
  Result<uint64_t> submit(EntryKind kind, uint32_t queue, std::chrono::nanoseconds guest_time, Pieces body);
  // The same without waiting: nothing while full.
  Result<std::optional<uint64_t>> try_submit(EntryKind kind, uint32_t queue, std::chrono::nanoseconds guest_time,
                                             Pieces body);
  uint64_t largest_body() const { return journal_.largest_body(); }
  void set_watcher(SubmissionWatcher* watcher) { watcher_ = watcher; }

  // True when the entry is done. Waits up to `limit`.
  bool wait_done(uint64_t sequence, std::chrono::nanoseconds limit);
  // Sequences not done yet, oldest first.
  std::vector<uint64_t> open() const;
  bool any_open() const;
  // The newest that is not done, of those up to `last`; 0: none.
  uint64_t newest_open(uint64_t last) const;
  uint64_t submitted() const;
  QueueFull queue_full() const;

  // A new life: empties the ring towards it; from now on entries are announced there. Called before the service is
  // greeted, so that an entry is either in the journal when the service looks, or announced.
  void attach();
  // The service is gone; nobody is announced to until the next attach.
  void detach();
  // The address map changed. Dropped when the ring is full: the service looks at the map at every submission anyway.
  void announce_map(uint64_t version);
  // After `close`: what is in the journal and was not announced because the ring was full. Never waits for the service.
  void announce_rest();
  bool announce_shutdown();
  // Behind everything that was announced. False: nobody is attached, or the ring stays full.
  bool ask_to_settle(uint64_t number);
  // The run is over for the title: whoever submits from now on waits until `stop`, so that what is open can finish.
  void close() { closed_.store(true); }
  // From now on nobody waits.
  void stop();

  struct Done {
    uint64_t sequence;
    EntryKind kind;
  };
  // The entry is done: its stretch was applied.
  void retire(uint64_t sequence);
  // Entries that are done and were not collected before. Oldest first; entries that retire in order are answered in
  // order.
  std::vector<Done> collect();

 private:
  std::optional<uint64_t> append(EntryKind kind, uint32_t queue, std::chrono::nanoseconds guest_time, Pieces body);
  void announce(uint64_t sequence);
  Result<void> check(Pieces body) const;

  // The order of locks: `order_` (journal and ring see entries in one order), then `state_`.
  std::mutex order_;
  mutable std::mutex state_;
  protocol::JournalWriter journal_;
  protocol::RingProducer ring_;
  SubmissionWatcher* watcher_ = nullptr;
  uint64_t announced_ = 0;  // under order_: this life of the service knows of entries up to this one
  std::atomic<bool> attached_{false};
  std::atomic<bool> closed_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<uint32_t> progress_{0};  // futex: bumped when entries are done
  std::map<uint64_t, EntryKind> outstanding_;
  QueueFull queue_full_;
};

}  // namespace orrery::link
