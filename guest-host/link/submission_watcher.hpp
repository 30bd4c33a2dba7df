// Who wants to see every step of what the GPU service is given. Only with the logical clock, where the title stands
// still meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "protocol/segment_layout.hpp"

namespace orrery::link {

class SubmissionWatcher {
 public:
  virtual ~SubmissionWatcher() = default;
  // The entry is in the journal and nobody was told of it yet. One call at a time.
  virtual void appended(protocol::EntryKind kind, uint32_t queue, std::chrono::nanoseconds guest_time,
                        std::span<const std::span<const std::byte>> body) = 0;
  // The service is asked to do what it can, ...
  virtual void settling() = 0;
  // ... and has done it; so many entries wait for the title.
  virtual void settled(uint64_t open) = 0;
};

}  // namespace orrery::link
