// "Which ranges may the submissions not yet retired still write?", from their forecasts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu-service/command/lookahead.hpp"

namespace orrery::command {

struct QueuedSpan {
  memory::GuestSpan span;
  uint64_t sequence = 0;  // the newest submission that may write it
  friend bool operator==(const QueuedSpan&, const QueuedSpan&) = default;
};
struct QueuedAnswer {
  std::vector<QueuedSpan> spans;  // sorted, apart
  std::string unbounded;          // why nothing bounds them; then `spans` says nothing
  uint64_t sequence = 0;          // unbounded: the newest submission for which that is so
};
inline constexpr size_t kMostQueuedSpans = 8192;

// Submissions up to `last` (0: all that are held).
QueuedAnswer queued_writes(const Lookahead& lookahead, dispatch::Executor& executor, const memory::GuestMemory& memory,
                           uint64_t last);

}  // namespace orrery::command
