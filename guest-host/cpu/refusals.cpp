#include "guest-host/cpu/refusals.hpp"

#include <fmt/format.h>

#include "shared/log.hpp"

namespace orrery::cpu {

void Refusals::refuse(std::string_view what, std::string_view why) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    auto it = counts_.find(what);
    first = it == counts_.end();
    if (first) it = counts_.emplace(std::string(what), 0).first;
    ++it->second;
  }
  if (first) log::warn("refused: {}: {}", what, why);
}

std::map<std::string, uint64_t, std::less<>> Refusals::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string Refusals::summary() const {
  std::string text;
  for (const auto& [what, count] : counts()) text += fmt::format("  {} x{}\n", what, count);
  return text;
}

}  // namespace orrery::cpu
