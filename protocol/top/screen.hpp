// What `orrery top` shows: two looks at a running title, a moment apart, as text or as JSON.
#pragma once

#include <string>

#include "protocol/outside_view.hpp"
#include "shared/measure/snapshot.hpp"

namespace orrery::protocol {

struct Look {
  measure::Snapshot measures;
  uint64_t lives = 0, heartbeat = 0, retired = 0, replayed = 0;
  uint64_t dispatches = 0, flips = 0, refusals = 0, escapes = 0, current_sequence = 0;
};
// Nothing while the segment is not ready.
std::optional<Look> look_at(const OutsideView& view);

struct Shown {
  int pid = 0;
  std::string title;
  Look before, now;
  // The service's main loop did not come round between the two looks: it is busy with one thing, stuck, or not there.
  bool still() const { return before.heartbeat == now.heartbeat; }
  double seconds() const;
};

std::string screen_of(const Shown& shown);
std::string json_of(const Shown& shown);

}  // namespace orrery::protocol
