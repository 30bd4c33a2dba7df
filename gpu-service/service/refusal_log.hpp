// Counts refusals and says which are worth telling: each distinct text once, then at doubling counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu-service/dispatch/executor.hpp"

namespace orrery::service {

struct CountedRefusal {
  dispatch::Refusal refusal;
  uint64_t count = 0;
  uint64_t told = 0;
};

class RefusalLog {
 public:
  // The entry to tell the guest process now; null when this one is only counted.
  const CountedRefusal* add(const dispatch::Refusal& refusal);
  // Entries whose count changed since they were told, for the end.
  std::vector<CountedRefusal> untold();
  uint64_t total() const { return total_; }

 private:
  // A hostile stream makes a new text with every packet: past this many they are counted together.
  static constexpr size_t kMostDistinct = 512;
  static constexpr size_t kLongestText = 2000;
  std::map<std::string, CountedRefusal> entries_;
  uint64_t total_ = 0;
};

}  // namespace orrery::service
