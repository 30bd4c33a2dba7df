// The guest process's half of the protocol without a title: a segment, an arena with one mapped range, a journal and
// the rings, talking to a real orrery-gpu that it starts.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "protocol/address_map.hpp"
#include "protocol/control_segment.hpp"
#include "protocol/control_socket.hpp"
#include "protocol/journal.hpp"
#include "protocol/ring.hpp"
#include "protocol/stretch.hpp"

namespace orrery::bench {

class StandaloneGuest {
 public:
  // Starts `service` (the path of orrery-gpu) and greets it.
  static Result<std::unique_ptr<StandaloneGuest>> start(const std::string& service);
  ~StandaloneGuest();

  // Submits one command buffer of one no-operation dword; answers the sequence number.
  uint64_t submit_empty() { return submit({0xffff1000}); }
  uint64_t submit(std::vector<uint32_t> dwords, uint32_t queue = 0);
  // Where the mapped range begins for the title, and its bytes.
  static constexpr uint64_t kMemory = 0x2'0000'0000;
  std::span<std::byte> memory() { return arena_memory_.bytes().first(1 << 20); }
  // Which ranges may open submissions still write? How many, or nothing when they are unbounded. Sleeps on the answer.
  Result<std::optional<size_t>> queued_writes();
  bool retired(uint64_t sequence) const {
    const std::lock_guard lock(committing_);
    return journal_->retired(sequence);
  }
  // Sleeps until `sequence` is retired.
  Result<void> sleep_until_retired(uint64_t sequence);
  // Reads messages that nobody waits for.
  void drain();

 private:
  void serve_commits(const std::stop_token& stop);
  StandaloneGuest() = default;
  pid_t service_ = -1;
  UniqueFd arena_, redo_;
  Mapping arena_memory_, redo_memory_;
  std::optional<protocol::RingProducer> questions_;
  std::optional<protocol::RingConsumer> answers_;
  uint64_t last_ask_ = 0;
  std::optional<protocol::StretchCommitter> committer_;
  mutable std::mutex committing_;
  std::optional<protocol::ControlSegment> segment_;
  std::optional<protocol::ControlSocket> socket_;
  std::optional<protocol::JournalWriter> journal_;
  std::optional<protocol::RingProducer> to_service_;
  std::optional<protocol::RingConsumer> from_service_;
  std::atomic<uint32_t> retired_{0};
  std::jthread commits_;
};

}  // namespace orrery::bench
