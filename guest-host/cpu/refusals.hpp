// What we do not do, counted by name: said once when it happens, and summed up at the end of the run.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace orrery::cpu {

class Refusals {
 public:
  // Reports on stderr the first time that `what` is refused. `why` says what the title asked for.
  void refuse(std::string_view what, std::string_view why);
  std::map<std::string, uint64_t, std::less<>> counts() const;
  // One line per refusal, for the end of a run; empty when there was none.
  std::string summary() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t, std::less<>> counts_;
};

}  // namespace orrery::cpu
