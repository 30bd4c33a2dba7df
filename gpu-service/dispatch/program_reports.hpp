// What became of each program's dispatches: by which routes, and why not by the first.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "gpu-service/dispatch/routes.hpp"
#include "gpu-service/dispatch/traced_buffers.hpp"

namespace orrery::dispatch {

struct ProgramReport {
  std::array<uint64_t, static_cast<size_t>(Route::count)> dispatches{};  // by route
  uint64_t refused = 0;
  uint64_t hits = 0;  // of the memo of traced buffers
  TraceMisses misses{};
  // Written back: by batches in which no other program ran.
  uint64_t bound_bytes = 0, uploaded_bytes = 0, written_back_bytes = 0;
  std::string why;  // the last reason why a route before the one that was taken did not work
};

// One thread's.
class ProgramReports {
 public:
  static constexpr size_t kMostPrograms = 4096;  // more are counted together
  ProgramReport& of(const ProgramKey& program);
  const std::map<ProgramKey, ProgramReport>& all() const { return reports_; }
  void written_back_together(uint64_t bytes) { together_ += bytes; }
  // A line for each program, most dispatches first: "0x74005b87e400 1f2e...: 7 device-addressed; memo 0 of 0; ...".
  std::string text(size_t most = 64) const;

 private:
  std::map<ProgramKey, ProgramReport> reports_;
  ProgramReport others_;
  uint64_t together_ = 0;  // bytes written back by batches of several programs
};

}  // namespace orrery::dispatch
