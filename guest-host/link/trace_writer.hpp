// Writes the run's trace while it goes on. The guest process does it, since it outlives every life of the service.
#pragma once

#include <memory>
#include <mutex>
#include <thread>

#include "shared/measure/trace_file.hpp"

namespace orrery::link {

class TraceWriter {
 public:
  static Result<std::unique_ptr<TraceWriter>> start(measure::Region& region, const std::string& path);

  // A life of the service is gone, and the next has not begun.
  void life_ended();
  // Closes the file, once; says on the log how much it holds.
  void finish();

 private:
  explicit TraceWriter(measure::TraceFile file) : file_(std::move(file)) {}
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  measure::TraceFile file_;
  bool finished_ = false;
  std::jthread thread_;
};

}  // namespace orrery::link
