// Looks at submissions as soon as they are in the journal: what they will need is prepared ahead, and the guest process
// is told which ranges they may still write. On threads of its own, so that neither waits for the command processor.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "gpu-service/command/lookahead.hpp"
#include "gpu-service/command/queued_answer.hpp"
#include "protocol/control_segment.hpp"
#include "protocol/journal.hpp"
#include "protocol/ring.hpp"

namespace orrery::service {

struct QueuedWritesCounters {
  std::atomic<uint64_t> asks{0}, bounded{0}, unbounded{0};
  std::atomic<uint64_t> wrong_forecasts{0};  // whose registers turned out to be other ones
};

class QueuedWrites {
 public:
  QueuedWrites(protocol::ControlSegmentView& segment, memory::GuestMemory memory, dispatch::Executor& executor);
  ~QueuedWrites();
  QueuedWrites(const QueuedWrites&) = delete;
  QueuedWrites& operator=(const QueuedWrites&) = delete;

  // Registers of a queue before its first open submission. Before start().
  void restore(uint32_t queue, const command::RegisterFile& registers);
  void start();
  // By the main thread: something new is in the journal; a submission has retired and left these registers.
  void submitted();
  void retired(uint32_t queue, uint64_t sequence, const command::RegisterFile& registers);
  // The ring can't be used any more, or the journal: the guest process is broken.
  std::optional<Error> error() const;
  const QueuedWritesCounters& counters() const { return counters_; }

 private:
  struct Retired {
    uint32_t queue;
    command::RegisterFile registers;
  };
  void look_ahead();
  void answer();
  Result<std::vector<std::byte>> answer_to(std::span<const std::byte> question);
  std::unique_lock<std::mutex> locked();
  // Under the lock: forecasts are those of the open submissions.
  Result<void> catch_up();
  Result<void> take(uint64_t sequence);
  void fail_with(Error error);

  protocol::JournalReader journal_;
  protocol::RingConsumer questions_;
  protocol::RingProducer answers_;
  dispatch::Executor& executor_;
  QueuedWritesCounters counters_;

  std::mutex lookahead_mutex_;
  command::Lookahead lookahead_;
  uint64_t next_ = 0;  // sequence to look at next; 0: not known yet

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Retired> retired_;  // by sequence, not compared yet
  std::optional<Error> error_;
  bool news_ = false, stopping_ = false;

  std::jthread ahead_, answering_;
};

}  // namespace orrery::service
