// What keeping mirrors and the arena equal has cost.
#pragma once

#include <cstdint>

namespace orrery::dispatch {

struct SyncCounters {
  uint64_t uploaded_bytes = 0, upload_passes = 0;
  uint64_t written_back_bytes = 0, looked_at_pages = 0;
  uint64_t conflicts = 0;  // bytes that CPU and GPU both changed between two acquire points
};

}  // namespace orrery::dispatch
