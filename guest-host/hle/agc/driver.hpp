// The AGC driver: queues and submissions. A submission's command buffers are copied into the journal; the call returns
// as soon as they are there.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "guest-host/clock/guest_clock.hpp"
#include "guest-host/hle/refusals.hpp"
#include "guest-host/link/submission_log.hpp"
#include "guest-host/memory/guest_memory.hpp"

namespace orrery::hle::agc {

// The driver's answer to what it can't do; measured for DestroyQueue, used for bad arguments too.
inline constexpr int32_t kDriverError = static_cast<int32_t>(0x8a6d0003);
inline constexpr int32_t kNotOnRetail = static_cast<int32_t>(0x8a6c9018);  // resource registration (measured)

// What a title hands to a submit call (measured).
struct SubmitDescription {
  uint64_t address;
  uint32_t dwords;
  uint16_t flags;
  uint16_t padding;
};
static_assert(sizeof(SubmitDescription) == 16);

inline constexpr uint32_t kGraphicsQueue = 0;

class Driver {
 public:
  Driver(memory::GuestMemory& memory, clock::GuestClock& clock, Refusals& refusals, link::SubmissionLog* submissions)
      : memory_(memory), clock_(clock), refusals_(refusals), submissions_(submissions) {}

  // Type 0: the graphics queue (all of them are one), 3: a compute queue of its own. Answers a handle.
  std::optional<uint64_t> create_queue(uint32_t type);
  // The queue of a handle from create_queue.
  std::optional<uint32_t> queue_of(uint64_t handle) const;
  // The compute queue of an owner number (SubmitAcb): a handle's own, else one per number.
  std::optional<uint32_t> queue_of_owner(uint64_t owner);

  // Journals one submission of the buffers; 0 or an error. Waits while the journal is full. A buffer that is not
  // readable is journaled as such, and the service refuses it by name.
  int32_t submit(uint32_t queue, std::span<const SubmitDescription> buffers);
  // The same with one description in guest memory.
  int32_t submit_at(uint32_t queue, GuestAddress description);

 private:
  memory::GuestMemory& memory_;
  clock::GuestClock& clock_;
  Refusals& refusals_;
  link::SubmissionLog* submissions_;
  mutable std::mutex mutex_;
  uint32_t next_compute_ = 1;
  std::map<uint64_t, uint32_t> owners_;
};

}  // namespace orrery::hle::agc
