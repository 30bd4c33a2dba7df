// The command processor: runs PM4 command buffers of several queues as a cooperative step machine. No thread is ever
// blocked: a queue that waits for memory is polled, the others go on.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu-service/command/register_file.hpp"
#include "gpu-service/command/submission.hpp"
#include "gpu-service/dispatch/executor.hpp"
#include "gpu-service/memory/guest_memory.hpp"
#include "protocol/segment_layout.hpp"
#include "protocol/stretch.hpp"
#include "shared/error.hpp"

namespace orrery::command {

// Who is told what happened.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void refused(const dispatch::Refusal& refusal) = 0;
  // The queue's registers behind a submission that is about to be retired.
  virtual void registers_after(uint32_t /*queue*/, uint64_t /*sequence*/, const RegisterFile& /*registers*/) {}
  // The submission is complete; with stretches, its stretch is what says so.
  virtual void retired(uint64_t sequence) = 0;
  // RELEASE_MEM or EVENT_WRITE_EOP asked for an interrupt.
  virtual void queue_event(uint32_t queue, uint32_t context_id) = 0;
};

struct ProcessorParts {
  memory::GuestMemory& memory;
  dispatch::Executor& executor;
  Listener& listener;
  protocol::ServiceStatus* status = nullptr;         // last words and counters; null in tests
  std::span<protocol::QueueCheckpoint> checkpoints;  // one per queue; empty in tests
  bool logical_clock = false;                        // GPU clock stands still inside a submission
  // Stores, events and retirements go to the guest process in stretches; null in tests: they take place at once.
  protocol::StretchWriter* stretches = nullptr;
  std::function<bool()> guest_gone = {};  // ends the wait for a commit
};

// A queue that waits in WAIT_REG_MEM.
struct BlockedQueue {
  uint32_t queue = 0;
  uint64_t sequence = 0;
  std::string text;  // place, address, what is expected and what was seen
};

struct Queue;
struct Machine;

class Processor {
 public:
  explicit Processor(const ProcessorParts& parts);
  ~Processor();
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;

  // Brings back where a queue stood behind the last stretch up to `retired`.
  void restore(uint32_t queue, uint64_t retired);
  // Queues a submission behind the others of its queue. A queue number past kMaxQueues is refused and retired at once.
  void submit(Submission submission);
  // For layers below, in the middle of a packet: what was recorded before the packet becomes a stretch of its own.
  // Only if it came to something, or `always`.
  Result<void> commit(bool always);
  // What was recorded is finished and committed, and nothing of it runs again.
  Result<void> end_stretch();
  // Lets every queue run a bounded number of packets. Answers whether anything moved; false: all queues are idle or
  // wait. An error (device lost, damaged address map) ends this life of the service.
  Result<bool> run();
  // Nothing submitted is left.
  bool idle() const;
  // A queue stands at a dispatch whose program is being prepared.
  bool preparing() const;
  // The queues that wait now.
  std::vector<BlockedQueue> blocked() const;
  // For tests and reports; null when the queue was never used.
  const RegisterFile* registers(uint32_t queue) const;

 private:
  Queue& queue(uint32_t id);
  Result<bool> run_queue(Queue& queue);
  Result<bool> poll_wait(Queue& queue);
  Result<void> start(Queue& queue);
  Result<void> resume(Queue& queue);
  Result<void> turn_to(Queue& queue);
  Result<void> retire(Queue& queue);

  std::unique_ptr<Machine> machine_;
  std::vector<uint64_t> refused_;  // submissions of queues that do not exist
  std::array<std::unique_ptr<Queue>, protocol::kMaxQueues> queues_;
};

}  // namespace orrery::command
