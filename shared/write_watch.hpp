// Which pages of a process were written since they were last asked about: asynchronous userfaultfd write-protection,
// harvested by PAGEMAP_SCAN (Linux 6.7). The process that owns the memory registers its mappings and hands out its
// pagemap descriptor; whoever holds that descriptor arms and harvests, this process or another. No handler runs, a
// write to an armed page never waits for anyone, and writes by the kernel on the process's behalf are recorded too.
// Writes through another mapping of the same memory are not seen.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/error.hpp"
#include "shared/unique_fd.hpp"

namespace orrery {

// Granularity of everything here.
inline constexpr uint64_t kHostPage = 4096;

struct AddressRange {
  uint64_t begin = 0, end = 0;  // of the watched process, whole pages
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

// The owner's side.
class WriteWatch {
 public:
  // Error: what this kernel, or this user, lacks.
  static Result<WriteWatch> open();
  // Registers a mapping (shared memory or anonymous); its pages count as written until they are armed. A mapping that
  // is unmapped or replaced leaves by itself, so that every new one must be added.
  Result<void> add(AddressRange mapping) const;
  // For WriteScan::open, in this process or another.
  Result<UniqueFd> pagemap() const;

 private:
  explicit WriteWatch(UniqueFd userfault) : userfault_(std::move(userfault)) {}
  UniqueFd userfault_;
};

// The harvester's side. Ranges may be unmapped in part (nothing is reported there) but not mapped and unregistered.
class WriteScan {
 public:
  // Error when the descriptor is no pagemap, or the kernel can't scan it.
  static Result<WriteScan> open(UniqueFd pagemap);
  // From now on the range's pages count as unwritten.
  Result<void> arm(AddressRange range) const;
  // Appends the written pages of the range, ascending, touching ones merged; with `rearm` they count as unwritten from
  // the very instant each was looked at. Never-armed pages count as written, except where the process has no page table
  // yet: nothing was written through this mapping there.
  Result<void> harvest(AddressRange range, std::vector<AddressRange>& written, bool rearm = true) const;

 private:
  explicit WriteScan(UniqueFd pagemap) : pagemap_(std::move(pagemap)) {}
  UniqueFd pagemap_;
};

// Tries the whole facility on a page of its own. Error: why writes can't be watched here.
Result<void> probe_write_watch();

}  // namespace orrery
