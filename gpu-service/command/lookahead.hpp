// Submissions run ahead of their time, without doing anything: which dispatches they hold, and what they may write.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu-service/command/register_file.hpp"
#include "gpu-service/command/submission.hpp"
#include "gpu-service/dispatch/executor.hpp"
#include "gpu-service/memory/guest_memory.hpp"
#include "gpu-service/memory/recording_memory.hpp"

namespace orrery::command {

struct Machine;
struct Queue;
struct Wait;

// One thing that a submission does to memory, in stream order.
struct ForecastStep {
  enum class Kind : uint8_t { read, write, dispatch } kind = Kind::read;
  memory::GuestSpan span;  // read: commands or registers; write: labels, data, fills, copies
  uint32_t dispatch = 0;   // index
  bool known = false;      // write: the queue's later packets were looked at with these bytes in place
};
struct Forecast {
  uint64_t sequence = 0;
  uint32_t queue = 0;
  std::vector<ForecastStep> steps;
  std::vector<dispatch::DispatchState> dispatches;
  // From this step on the CPU may change what is read before it is read: a wait that only the CPU ends stands before
  // it.
  size_t behind_cpu = SIZE_MAX;
  std::string wait;     // that wait
  std::string unknown;  // why the steps are not all of it; empty: they are
  bool reads = false;   // commands or registers, from memory as it was then
  RegisterFile after;   // the queue's registers behind it
};

// Not for several threads.
class Lookahead {
 public:
  static constexpr size_t kMostSteps = 65536;    // of a submission
  static constexpr size_t kMostPlanned = 65536;  // dwords of all

  // `memory` is looked at as it is now.
  explicit Lookahead(memory::GuestMemory memory);
  ~Lookahead();

  memory::GuestMemory& memory() { return memory_; }
  // Looks at the queue's next submission. The result stays until it is dropped.
  const Forecast& take(Submission submission);
  // It has retired, or was never there.
  void drop(uint64_t sequence);
  // Those that are held, oldest first.
  const std::map<uint64_t, Forecast>& forecasts() const { return forecasts_; }
  // All of the queue's forecasts go, and its next submission begins with these registers.
  void restart(uint32_t queue, RegisterFile registers);

 private:
  class Run;
  // Dwords that packets will write with these values, by address.
  struct Planned {
    uint32_t value = 0;
    uint32_t queue = 0;
    uint64_t sequence = 0;
    bool behind_cpu = false;
  };

  memory::GuestMemory memory_;
  std::map<uint32_t, RegisterFile> registers_;
  std::map<uint32_t, std::string> stuck_;  // by queue: the wait for the CPU that its last submission did not pass
  std::map<uint32_t, std::string> lost_;   // by queue: why its registers are not known until restart()
  std::map<uint64_t, Forecast> forecasts_;
  std::multimap<uint64_t, Planned> planned_;
};

}  // namespace orrery::command
