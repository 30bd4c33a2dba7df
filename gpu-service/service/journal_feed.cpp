#include "gpu-service/service/journal_feed.hpp"

namespace orrery::service {

Result<void> JournalFeed::take(uint64_t sequence) {
  auto entry = journal_.read(sequence);
  if (!entry) return forward(std::move(entry), "reading the journal");
  waiting_.push_back(std::move(*entry));
  next_ = sequence + 1;
  return {};
}

Result<void> JournalFeed::take_open() {
  const auto seen = scan_();
  if (seen.empty()) return {};
  // A walk may pass an entry's slot before it is appended and still find later ones. Appends are ordered: once an entry
  // was seen, a second walk finds all before it.
  for (const uint64_t sequence : scan_()) {
    if (sequence > seen.back()) break;
    ORRERY_TRY(take(sequence));
  }
  return {};
}

Result<void> JournalFeed::announced(uint64_t sequence) {
  if (next_ == 0) {
    // Announced after it was appended, so a walk finds all up to it.
    for (const uint64_t open : scan_()) {
      if (open <= sequence) ORRERY_TRY(take(open));
    }
    return {};
  }
  if (sequence >= next_ && sequence - next_ >= protocol::kJournalEntries) {
    return fail(ExitCode::protocol_mismatch, "journal entry {} is announced where {} is next", sequence, next_);
  }
  for (uint64_t wanted = next_; wanted <= sequence; ++wanted) ORRERY_TRY(take(wanted));
  return {};
}

protocol::EntryCopy JournalFeed::pop() {
  protocol::EntryCopy entry = std::move(waiting_.front());
  waiting_.pop_front();
  return entry;
}

}  // namespace orrery::service
