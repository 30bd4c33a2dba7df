// Saves where a queue stands to the control segment with each stretch, and brings it back in a new life.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gpu-service/command/register_file.hpp"
#include "protocol/segment_layout.hpp"

namespace orrery::command {

enum class Bank : uint8_t { context, sh, uconfig };
struct Cursor;

// Memory for the contents of indirect buffers, one for each of the two slots; empty: none are kept.
using FetchedPlaces = std::array<std::span<std::byte>, 2>;

class CheckpointStore {
 public:
  CheckpointStore() = default;
  explicit CheckpointStore(protocol::QueueCheckpoint* shared, FetchedPlaces fetched = {})
      : shared_(shared), fetched_(fetched) {}

  // Takes the newest checkpoint that belongs to a stretch up to `retired`: a later one's stretch runs again. Leaves
  // both as they are when there is none.
  void restore(RegisterFile& banks, protocol::QueueProgress& progress, uint64_t retired);
  // The contents of an indirect buffer of the restored progress; null when they are damaged.
  std::shared_ptr<const std::vector<uint32_t>> contents(const protocol::NestedBuffer& buffer) const;
  // `count` registers from `first` were written since the last save; only those are copied.
  void touched(Bank bank, uint32_t first, uint32_t count);
  // `stack` goes with progress.nested, which this completes.
  void save(const RegisterFile& banks, protocol::QueueProgress progress, std::span<const Cursor> stack,
            uint64_t stretch);

 private:
  struct Range {
    uint32_t begin = 0, end = ~0u;  // at first everything counts as changed
  };
  void keep_contents(protocol::QueueProgress& progress, std::span<const Cursor> stack, uint32_t slot);

  protocol::QueueCheckpoint* shared_ = nullptr;
  FetchedPlaces fetched_{};
  uint32_t newest_ = 1;                            // slot
  std::array<std::array<Range, 3>, 2> changed_{};  // per slot and bank
  // Which indirect buffers' contents lie in each slot's memory, and where the last one ends. Of this life only.
  std::array<std::vector<protocol::NestedBuffer>, 2> kept_;
};

}  // namespace orrery::command
