// Asks the GPU service which ranges the submissions not yet retired may still write, and waits for those concerned:
// before the title's memory is unmapped, protected or given back, and before it is read on the title's behalf.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "guest-host/link/submission_log.hpp"
#include "protocol/control_segment.hpp"
#include "protocol/ring.hpp"
#include "shared/quantity.hpp"

namespace orrery::link {

struct QueuedSpan {
  GuestAddress begin;
  Bytes size;
  uint64_t sequence = 0;  // the newest submission that may write there
};
struct QueuedWritesAnswer {
  uint64_t ask = 0;
  std::vector<QueuedSpan> spans;
  std::string unbounded;  // why nothing bounds them; empty: `spans` is all
  uint64_t sequence = 0;  // unbounded: the newest submission for which that is so
  std::string refused;    // the question was not answered
};

struct QueuedWritesCounts {
  uint64_t settled = 0;     // ranges that were asked about while something was open
  uint64_t asks = 0;        // questions sent
  uint64_t unanswered = 0;  // no service, or it did not answer in time
  uint64_t unbounded = 0;   // answers
  uint64_t waits = 0;       // ranges for which a submission was waited for
  uint64_t given_up = 0;    // of them: until patience ended
  std::chrono::nanoseconds asked{}, waited{};
  std::map<std::string, uint64_t> reasons;  // of unbounded answers, without their numbers
};
// "12 ranges, 14 questions (0.2 ms), 3 waits (12 ms); unbounded: 2 x ..."
std::string describe(const QueuedWritesCounts& counts);

// What work counts for that may write anywhere.
enum class Unbounded : uint8_t { wait, go_on };

class QueuedWrites {
 public:
  QueuedWrites(const protocol::ControlSegment& segment, SubmissionLog& log);

  // A life of the service comes or is gone. Questions are empty then.
  void attach();
  void detach();

  // About submissions up to `last`. Nothing: there is no service, or it did not answer within `limit`.
  std::optional<QueuedWritesAnswer> ask(uint64_t last, std::chrono::milliseconds limit);
  // Waits until nothing that is submitted by now may write the range any more. False when patience ended first: a
  // submission may wait for the very thread that waits here.
  bool settle(GuestAddress begin, Bytes size, Unbounded unbounded = Unbounded::wait);

  QueuedWritesCounts counts() const;

 private:
  std::optional<QueuedWritesAnswer> ask_now(uint64_t last, std::chrono::milliseconds limit);
  bool hopeless(uint64_t sequence) const;

  SubmissionLog& log_;
  std::span<std::byte> questions_memory_, answers_memory_;
  std::mutex asking_;
  protocol::RingProducer questions_;
  protocol::RingConsumer answers_;
  std::atomic<bool> attached_{false};
  uint64_t last_ask_ = 0;
  mutable std::mutex counting_;
  QueuedWritesCounts counts_;
  std::set<uint64_t> hopeless_;  // submissions that patience ended for: not waited for again
};

}  // namespace orrery::link
