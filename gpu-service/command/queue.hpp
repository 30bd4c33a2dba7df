// Everything the command processor remembers of one queue: plain data.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "gpu-service/command/checkpoint.hpp"
#include "gpu-service/command/register_file.hpp"
#include "gpu-service/command/submission.hpp"
#include "protocol/segment_layout.hpp"

namespace orrery::command {

// A place in a command buffer. The buffer's dwords were copied when it was fetched.
struct Cursor {
  std::shared_ptr<const std::vector<uint32_t>> dwords;
  size_t at = 0;
  GuestAddress address;   // of the buffer
  bool indirect = false;  // reached through INDIRECT_BUFFER
  uint64_t id = 0;        // of indirect ones, never the same twice in a life
};

// WAIT_REG_MEM functions (bits 2:0 of its first body dword).
enum class Compare : uint8_t { always, less, less_equal, equal, not_equal, greater_equal, greater, reserved };

struct Wait {
  GuestAddress address;
  uint32_t bytes = 4;  // 4 or 8
  Compare compare = Compare::always;
  uint64_t reference = 0, mask = 0;
  uint32_t packet_offset = 0;
};

struct Queue {
  uint32_t id = 0;
  RegisterFile banks;
  CheckpointStore checkpoint;
  protocol::QueueProgress resume{};    // where an earlier life left a submission that was begun
  std::deque<Submission> submissions;  // the front one runs once `started`
  bool started = false;
  size_t next_buffer = 0;     // of the front submission
  std::vector<Cursor> stack;  // the innermost buffer is last
  std::optional<Wait> wait;   // blocked on this
  bool preparing = false;     // its next packet is a dispatch whose program is being prepared
  // Host time since when; 0: it does not wait.
  uint64_t wait_since_ns = 0, preparing_since_ns = 0;
  uint64_t fetched = 0;     // dwords fetched for the front submission
  uint64_t arrived_ns = 0;  // host time when the front submission started
};

}  // namespace orrery::command
