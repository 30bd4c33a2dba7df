// One life of the GPU service: takes messages, feeds the command processor, presents flips, tells the guest process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "gpu-service/command/processor.hpp"
#include "gpu-service/present/presenter.hpp"
#include "gpu-service/service/journal_feed.hpp"
#include "gpu-service/service/queued_writes.hpp"
#include "gpu-service/service/refusal_log.hpp"
#include "protocol/control_segment.hpp"
#include "protocol/ring.hpp"

namespace orrery::service {

struct ServiceParts {
  protocol::ControlSegmentView& segment;
  memory::GuestMemory& memory;
  dispatch::Executor& executor;
  present::Presenter& presenter;
  protocol::StretchWriter& stretches;
  uint32_t life = 1;
  bool logical_clock = false;
  bool window = false;                 // the presenter has events to poll
  std::function<bool()> guest_gone;    // the other process is no longer there
  std::function<bool()> asked_to_end;  // SIGTERM
  // Puts the executor's counters where they can be seen from outside; may be empty.
  std::function<void(protocol::ServiceStatus&)> publish;
  bool exactly_once = true;  // false: stores take place at once (for measurements)
};

class Service final : private command::Listener {
 public:
  explicit Service(const ServiceParts& parts);
  // For the executor's Redo.
  Result<void> commit(bool always) { return processor_.commit(always); }
  // Runs until the guest process asks for the end (no error), is gone (peer_gone), sends garbage (protocol_mismatch),
  // or the device or its driver fails (device_lost).
  Result<void> run();
  // "12 asks, 10 bounded, 2 unbounded, ..."
  std::string queued_writes_text() const;

 private:
  using Clock = std::chrono::steady_clock;

  Result<void> loop();
  Result<bool> take_messages(std::chrono::milliseconds wait);
  Result<void> handle(std::span<const std::byte> message);
  // Feeds and runs the processor; answers whether anything moved.
  Result<bool> work();
  Result<void> flip(const protocol::EntryCopy& entry);
  Result<present::Image> image_of_flip(const protocol::FlipBody& flip);
  void poll_presenter();
  void report_waits(bool to_guest);
  bool may_end();
  void doing(protocol::Activity activity) {
    status_.activity.store(static_cast<uint32_t>(activity), std::memory_order_relaxed);
  }
  void send(std::span<const std::byte> message);
  // An entry that the processor never sees is done: a stretch of its own.
  Result<void> finish_entry(uint64_t sequence);
  std::chrono::milliseconds pause();

  void refused(const dispatch::Refusal& refusal) override;
  void registers_after(uint32_t queue, uint64_t sequence, const command::RegisterFile& registers) override;
  // Only without stretches of the processor's own.
  void retired(uint64_t sequence) override;
  void queue_event(uint32_t queue, uint32_t context_id) override;

  ServiceParts parts_;
  protocol::ServiceStatus& status_;
  protocol::RingConsumer from_guest_;
  protocol::RingProducer to_guest_;
  protocol::JournalReader journal_;
  JournalFeed feed_;
  RefusalLog refusals_;
  command::Processor processor_;
  std::optional<uint64_t> settle_;  // asked for, and not yet answered
  QueuedWrites queued_writes_;
  present::Image frame_;  // the last one read, for its memory
  bool shutdown_ = false;
  bool close_told_ = false;
  bool peer_lost_ = false;  // found while sending
  std::optional<Error> broken_;
  Clock::time_point moved_, shutdown_at_, waits_reported_;
};

}  // namespace orrery::service
