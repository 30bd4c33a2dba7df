// Single-producer single-consumer byte ring in shared memory, with sleeping waits. Records stay whole; either side may
// die at any instant. The reader copies a record before anyone decodes it, and never trusts a size it finds.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "protocol/segment_layout.hpp"
#include "shared/error.hpp"

namespace orrery::protocol {

// How a waiting side sleeps: spins this many pauses, then sleeps on the futex.
struct WaitPolicy {
  uint32_t spins = 2000;
};

class RingProducer {
 public:
  // `memory` is the part of the control segment: a RingHeader and its bytes.
  explicit RingProducer(std::span<std::byte> memory, WaitPolicy policy = {});
  // Makes the ring empty. Only while no consumer is attached (before each life of the service).
  void reset();
  // False when there is no room now, or the record can never fit.
  bool try_push(std::span<const std::byte> record);
  // Waits for room. False at the deadline (the caller checks whether its peer lives, then calls again).
  bool push(std::span<const std::byte> record, std::chrono::milliseconds timeout);

 private:
  RingHeader* header_;
  std::byte* bytes_;
  uint64_t capacity_;  // our own copy: the peer could overwrite the header's
  WaitPolicy policy_;
};

class RingConsumer {
 public:
  explicit RingConsumer(std::span<std::byte> memory, WaitPolicy policy = {});
  // The next record, copied out. Error (protocol_mismatch) when the ring is damaged: it can't be used any more.
  Result<std::optional<std::vector<std::byte>>> try_pop();
  // Waits for a record; empty at the deadline.
  Result<std::optional<std::vector<std::byte>>> pop(std::chrono::milliseconds timeout);

 private:
  RingHeader* header_;
  std::byte* bytes_;
  uint64_t capacity_;
  WaitPolicy policy_;
};

// Bytes of shared memory for a ring of `capacity` (a power of two) bytes.
constexpr size_t ring_memory(uint64_t capacity) { return sizeof(RingHeader) + capacity; }

}  // namespace orrery::protocol
