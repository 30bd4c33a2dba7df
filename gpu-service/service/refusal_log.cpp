#include "gpu-service/service/refusal_log.hpp"

#include <bit>

namespace orrery::service {

const CountedRefusal* RefusalLog::add(const dispatch::Refusal& refusal) {
  ++total_;
  std::string key = refusal.kind + '\0' + refusal.text;
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    CountedRefusal entry{refusal};
    if (entries_.size() >= kMostDistinct) {
      entry.refusal = {"more", "further refusals are only counted"};
      key = entry.refusal.kind;
    }
    if (entry.refusal.text.size() > kLongestText) entry.refusal.text.resize(kLongestText);
    found = entries_.try_emplace(std::move(key), std::move(entry)).first;
  }
  CountedRefusal& entry = found->second;
  ++entry.count;
  if (!std::has_single_bit(entry.count)) return nullptr;
  entry.told = entry.count;
  return &entry;
}

std::vector<CountedRefusal> RefusalLog::untold() {
  std::vector<CountedRefusal> changed;
  for (auto& [key, entry] : entries_) {
    if (entry.told == entry.count) continue;
    entry.told = entry.count;
    changed.push_back(entry);
  }
  return changed;
}

}  // namespace orrery::service
