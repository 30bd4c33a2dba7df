// What the GPU service and the launcher tell the guest process. Called on the link's own threads, one call at a time
// per thread; a listener must not block on the service.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/segment_layout.hpp"
#include "shared/error.hpp"

namespace orrery::link {

// The pad as the service's window sees it. Buttons use the guest's bits; sticks rest at 128.
struct PadInput {
  uint32_t buttons = 0;
  uint8_t left_x = 128, left_y = 128, right_x = 128, right_y = 128;
  uint8_t l2 = 0, r2 = 0;
};

class Listener {
 public:
  virtual ~Listener() = default;
  // A journal entry is done. Each sequence is reported once, over all lives of the service, in journal order per kind.
  virtual void retired(uint64_t sequence, protocol::EntryKind kind) = 0;
  // RELEASE_MEM with an interrupt. A life that ran a submission again may report it again.
  virtual void queue_event(uint32_t queue, uint32_t context_id) = 0;
  virtual void input(const PadInput& pad) = 0;
  // The person closed the window.
  virtual void window_closed() = 0;
  // The run can't go on: the launcher is gone, or the service speaks another protocol.
  virtual void run_must_end(const Error& why) = 0;
};

}  // namespace orrery::link
