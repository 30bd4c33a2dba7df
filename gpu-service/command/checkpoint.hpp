// Saves a queue's register banks to the control segment after each retired submission, and brings them back in a new
// life.
#pragma once

#include <array>
#include <cstdint>

#include "gpu-service/command/register_file.hpp"
#include "protocol/segment_layout.hpp"

namespace orrery::command {

enum class Bank : uint8_t { context, sh, uconfig };

class CheckpointStore {
 public:
  CheckpointStore() = default;
  explicit CheckpointStore(protocol::QueueCheckpoint* shared) : shared_(shared) {}

  // Takes the newest banks saved after a submission before `first_open` (0: nothing is open, the newest at all).
  // Leaves `banks` as they are when there are none.
  // Banks saved after a submission that runs again count as never saved.
  void restore(RegisterFile& banks, uint64_t first_open);
  // `count` registers from `first` were written since the last save; only those are copied.
  void touched(Bank bank, uint32_t first, uint32_t count);
  void save(const RegisterFile& banks, uint64_t sequence);

 private:
  struct Range {
    uint32_t begin = 0, end = ~0u;  // at first everything counts as changed
  };
  protocol::QueueCheckpoint* shared_ = nullptr;
  std::array<std::array<Range, 3>, 2> changed_{};  // per slot and bank
};

}  // namespace orrery::command
