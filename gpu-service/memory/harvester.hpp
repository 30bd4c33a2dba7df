// How pages that the title's CPU wrote are found: by the kernel's write-protection of the title's windows, or by
// looking at their contents.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "gpu-service/memory/arena_range.hpp"
#include "protocol/segment_layout.hpp"
#include "shared/error.hpp"
#include "shared/write_watch.hpp"

namespace orrery::memory {

class Harvester {
 public:
  virtual ~Harvester() = default;
  virtual std::string_view name() const = 0;  // as --tracker takes it
  // The windows in force.
  virtual void map_changed(std::span<const protocol::MapEntry> entries) = 0;
  // From now on the pages of the range (whole host pages) count as unwritten.
  virtual Result<void> arm(ArenaRange range) = 0;
  // Appends the written pages of armed runs; they count as unwritten from the instant each was looked at. In any
  // order, a page perhaps twice. Cheapest for the runs of the last call.
  virtual Result<void> harvest(std::span<const ArenaRange> runs, std::vector<ArenaRange>& written) = 0;
  // The service itself is about to store there (through its own mapping).
  virtual void stored(ArenaRange) {}
};

// Error: what the descriptor or the kernel lacks.
Result<std::unique_ptr<Harvester>> make_page_table_harvester(UniqueFd pagemap);
// By faults in the guest process: `states` and the requests' part of the control segment (protocol/page_states.hpp).
Result<std::unique_ptr<Harvester>> make_fault_harvester(const UniqueFd& states, std::span<std::byte> requests);
// Needs nothing, and costs a hash of every armed page a harvest.
std::unique_ptr<Harvester> make_content_harvester(std::span<const std::byte> arena);

}  // namespace orrery::memory
