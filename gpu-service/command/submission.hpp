// A journal entry's submission, taken apart and checked.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/journal.hpp"
#include "shared/error.hpp"
#include "shared/quantity.hpp"

namespace orrery::command {

struct CommandBuffer {
  GuestAddress address;          // where the title had it
  uint32_t claimed_dwords = 0;   // what the title said
  bool readable = false;         // false: it lay outside the map, `dwords` is empty
  std::vector<uint32_t> dwords;  // as copied when it was submitted
};

struct Submission {
  uint64_t sequence = 0;
  uint32_t queue = 0;
  uint64_t guest_time_ns = 0;
  std::vector<CommandBuffer> buffers;
};

// Error (protocol_mismatch) when the body is cut off or says sizes that it does not have.
Result<Submission> parse_submission(const protocol::EntryCopy& entry);

}  // namespace orrery::command
