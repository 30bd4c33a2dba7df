// The journal's entries in order, each once: those that earlier lives left open first, then what submit messages
// announce.
#pragma once

#include <deque>
#include <functional>

#include "protocol/journal.hpp"

namespace orrery::service {

class JournalFeed {
 public:
  // Answers the open entries it saw in one walk over the journal; entries may be appended meanwhile.
  using Scan = std::function<std::vector<uint64_t>()>;
  explicit JournalFeed(protocol::JournalReader& journal)
      : JournalFeed(journal, [&journal] { return journal.open_entries(); }) {}
  JournalFeed(protocol::JournalReader& journal, Scan scan) : journal_(journal), scan_(std::move(scan)) {}
  // Takes what is open: whole up to some sequence, nothing behind it. Called once, before any message is read; what was
  // appended meanwhile comes by its submit message.
  Result<void> take_open();
  // A submit message: takes everything up to it. Messages for entries already taken mean nothing.
  Result<void> announced(uint64_t sequence);

  bool empty() const { return waiting_.empty(); }
  const protocol::EntryCopy& front() const { return waiting_.front(); }
  protocol::EntryCopy pop();
  size_t size() const { return waiting_.size(); }

 private:
  Result<void> take(uint64_t sequence);

  protocol::JournalReader& journal_;
  Scan scan_;
  std::deque<protocol::EntryCopy> waiting_;
  uint64_t next_ = 0;  // 0: nothing taken yet
};

}  // namespace orrery::service
