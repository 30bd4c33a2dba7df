#include "guest-host/link/submission_log.hpp"

#include <algorithm>

#include "guest-host/link/wire_codec.hpp"
#include "shared/futex.hpp"
#include "shared/measure/span.hpp"

namespace orrery::link {
namespace {

using namespace std::chrono_literals;
using protocol::PartName;

// Waiters look again this often, so that a lost wake-up costs a moment and not the run.
constexpr auto kSlice = 50ms;

}  // namespace

SubmissionLog::SubmissionLog(const protocol::ControlSegment& segment)
    : journal_(segment.part(PartName::journal), segment.part(PartName::journal_bytes)),
      ring_(segment.part(PartName::guest_to_service)) {
  ring_.reset();
}

Result<void> SubmissionLog::check(Pieces body) const {
  uint64_t size = 0;
  for (const auto piece : body) size += piece.size();
  if (size > largest_body()) {
    return fail(ExitCode::usage, "a submission of {} bytes is larger than the journal takes ({} bytes)", size,
                largest_body());
  }
  if (stopped_.load()) return fail(ExitCode::peer_gone, "the run is ending");
  return {};
}

std::optional<uint64_t> SubmissionLog::append(EntryKind kind, uint32_t queue, std::chrono::nanoseconds guest_time,
                                              Pieces body) {
  const measure::CountedLock order(order_);
  std::optional<uint64_t> sequence;
  {
    const measure::CountedLock state(state_);
    sequence = journal_.try_append(kind, queue, static_cast<uint64_t>(guest_time.count()), body);
    if (!sequence) return std::nullopt;
    outstanding_.emplace(*sequence, kind);
  }
  if (watcher_ != nullptr) watcher_->appended(kind, queue, guest_time, body);
  measure::count(kind == EntryKind::flip ? measure::Counter::flips : measure::Counter::submissions);
  for (const auto piece : body) measure::count(measure::Counter::journal_bytes, piece.size());
  announce(*sequence);
  return sequence;
}

void SubmissionLog::announce(uint64_t sequence) {
  const auto message = encode_submit(sequence);
  // Not once the title has ended: who tells the service so needs our lock, and the ring of one that has stopped stays
  // full. `announce_rest` makes up for it.
  while (attached_.load(std::memory_order_acquire) && !stopped_.load() && !closed_.load()) {
    if (ring_.push(message, 20ms)) {
      announced_ = sequence;
      return;
    }
  }
}

void SubmissionLog::announce_rest() {
  const std::lock_guard order(order_);
  const uint64_t last = submitted();
  if (announced_ >= last || !attached_.load(std::memory_order_acquire)) return;
  // One announcement is enough: the service takes everything up to it from the journal.
  if (ring_.try_push(encode_submit(last))) announced_ = last;
}

Result<std::optional<uint64_t>> SubmissionLog::try_submit(EntryKind kind, uint32_t queue,
                                                          std::chrono::nanoseconds guest_time, Pieces body) {
  ORRERY_TRY(check(body));
  if (closed_.load()) return std::nullopt;
  return append(kind, queue, guest_time, body);
}

Result<uint64_t> SubmissionLog::submit(EntryKind kind, uint32_t queue, std::chrono::nanoseconds guest_time,
                                       Pieces body) {
  std::optional<std::chrono::steady_clock::time_point> full_since;
  std::optional<measure::Span> waiting;
  for (;;) {
    ORRERY_TRY(check(body));
    const uint32_t seen = progress_.load(std::memory_order_acquire);
    if (closed_.load()) {
      futex_wait(progress_, seen, kSlice);
      continue;
    }
    const auto sequence = append(kind, queue, guest_time, body);
    if (sequence) {
      if (full_since) {
        const std::lock_guard state(state_);
        queue_full_.waits += 1;
        queue_full_.waited += std::chrono::steady_clock::now() - *full_since;
      }
      return *sequence;
    }
    if (!full_since) {
      full_since = std::chrono::steady_clock::now();
      waiting.emplace(measure::SpanName::queue_full, queue);
    }
    futex_wait(progress_, seen, kSlice);
  }
}

bool SubmissionLog::wait_done(uint64_t sequence, std::chrono::nanoseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const uint32_t seen = progress_.load(std::memory_order_acquire);
    {
      const std::lock_guard state(state_);
      if (!outstanding_.contains(sequence) || journal_.retired(sequence)) return true;
    }
    const auto left = until - std::chrono::steady_clock::now();
    if (left <= 0ns || stopped_.load()) return false;
    futex_wait(progress_, seen, std::min<std::chrono::nanoseconds>(left, kSlice));
  }
}

std::vector<uint64_t> SubmissionLog::open() const {
  const std::lock_guard state(state_);
  std::vector<uint64_t> sequences;
  for (const auto& [sequence, kind] : outstanding_) {
    if (!journal_.retired(sequence)) sequences.push_back(sequence);
  }
  return sequences;
}

bool SubmissionLog::any_open() const { return newest_open(UINT64_MAX) != 0; }

uint64_t SubmissionLog::newest_open(uint64_t last) const {
  const std::lock_guard state(state_);
  for (auto entry = outstanding_.rbegin(); entry != outstanding_.rend(); ++entry) {
    if (entry->first <= last && !journal_.retired(entry->first)) return entry->first;
  }
  return 0;
}

uint64_t SubmissionLog::submitted() const {
  const std::lock_guard state(state_);
  return journal_.last_sequence();
}

QueueFull SubmissionLog::queue_full() const {
  const std::lock_guard state(state_);
  return queue_full_;
}

void SubmissionLog::attach() {
  const std::lock_guard order(order_);
  ring_.reset();
  announced_ = submitted();  // the new life finds them in the journal
  attached_.store(true, std::memory_order_release);
}

void SubmissionLog::detach() { attached_.store(false, std::memory_order_release); }

void SubmissionLog::announce_map(uint64_t version) {
  // Never waits: the caller holds the lock of guest memory.
  if (!attached_.load(std::memory_order_acquire)) return;
  const std::unique_lock order(order_, std::try_to_lock);
  if (order) ring_.try_push(encode_map_changed(version));
}

bool SubmissionLog::announce_shutdown() {
  const std::lock_guard order(order_);
  return attached_.load(std::memory_order_acquire) && ring_.push(encode_shutdown(), 200ms);
}

bool SubmissionLog::ask_to_settle(uint64_t number) {
  const std::lock_guard order(order_);
  return attached_.load(std::memory_order_acquire) && ring_.push(encode_settle(number), 20ms);
}

void SubmissionLog::stop() {
  stopped_.store(true);
  progress_.fetch_add(1);
  futex_wake(progress_);
}

void SubmissionLog::retire(uint64_t sequence) {
  const std::lock_guard state(state_);
  journal_.mark_retired(sequence);
}

std::vector<SubmissionLog::Done> SubmissionLog::collect() {
  std::vector<Done> done;
  {
    const std::lock_guard state(state_);
    // The newest first: what retires in order while we look is then seen in order.
    for (auto entry = outstanding_.rbegin(); entry != outstanding_.rend(); ++entry) {
      if (journal_.retired(entry->first)) done.push_back({entry->first, entry->second});
    }
    std::ranges::reverse(done);
    for (const auto& entry : done) outstanding_.erase(entry.sequence);
    journal_.reclaim();
  }
  progress_.fetch_add(1, std::memory_order_release);
  futex_wake(progress_);
  return done;
}

}  // namespace orrery::link
