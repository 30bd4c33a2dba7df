// Work items in processes of their own, so that one that crashes or does not end is a verdict on that item alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace orrery::opencl {

enum class Outcome : uint8_t { passed, failed, refused, not_launched, too_slow, crashed, no_device };

struct Verdict {
  Outcome outcome = Outcome::failed;
  std::string text;
  double seconds = 0;
};

struct WorkOptions {
  unsigned workers = 1;
  // Of one item, in its process's own time, so that a busy machine changes no verdict. One that waits for ever ends
  // after 20 times as much on the clock.
  std::chrono::milliseconds limit{30'000};
};

struct Work {
  size_t items = 0;
  // Items of one group are neighbours and go to one process, which may keep what they share.
  std::function<size_t(size_t item)> group;
  // Whether two items of a group run the same program: when one was too slow, so is the other.
  std::function<bool(size_t, size_t)> same_program;
  // Called in a new process; what it answers does the items. An exception there is Outcome::no_device.
  std::function<std::function<Verdict(size_t)>()> start;
  std::function<void(size_t, const Verdict&)> report;
};

// Must be called while the process has one thread. Items are reported in any order, each once.
void run_work(const Work& work, const WorkOptions& options);

}  // namespace orrery::opencl
