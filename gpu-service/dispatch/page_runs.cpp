#include "gpu-service/dispatch/page_runs.hpp"

#include <algorithm>

#include "gpu-service/shader/translate.hpp"
#include "shared/quantity.hpp"

namespace orrery::dispatch {

PageRuns page_runs(std::span<const protocol::MapEntry> entries) {
  constexpr uint64_t kPage = 1ull << shader::kPageBits;
  constexpr uint64_t kReach = 1ull << shader::kAddressBits;
  PageRuns out;
  uint64_t last_partial = UINT64_MAX;
  const auto partial = [&](uint64_t page) {
    if (page != last_partial) ++out.partial_pages;
    last_partial = page;
  };
  for (size_t i = 0; i < entries.size();) {
    // Entries that touch in guest addresses and in the arena are one.
    const uint64_t begin = entries[i].guest_begin, offset = entries[i].arena_offset;
    uint64_t end = begin + entries[i].size;
    for (++i; i < entries.size() && entries[i].guest_begin == end && entries[i].arena_offset == offset + (end - begin);
         ++i) {
      end += entries[i].size;
    }
    if (end > kReach) ++out.out_of_reach;
    if (begin >= kReach) continue;
    end = std::min(end, kReach);
    const uint64_t first = align_up(begin, kPage), last = align_down(end, kPage);
    if (begin < first) partial(begin >> shader::kPageBits);
    if (end > last && (last >= first || begin >= first)) partial(last >> shader::kPageBits);
    if (first >= last) continue;
    out.runs.push_back({first >> shader::kPageBits, (last - first) >> shader::kPageBits, offset + (first - begin)});
  }
  return out;
}

}  // namespace orrery::dispatch
