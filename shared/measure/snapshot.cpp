#include "shared/measure/snapshot.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>

#include "shared/measure/span.hpp"

namespace orrery::measure {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
using Sums = std::array<uint64_t, kBuckets>;

// The segment may hold anything: a name ends at its first zero or at its place's end.
std::string text_of(const std::array<char, kNameBytes>& name) {
  return {name.data(), ::strnlen(name.data(), name.size())};
}

std::string thread_name_of(const Slot& slot) {
  std::array<char, 16> name{};
  for (size_t i = 0; i < slot.thread_name.size(); ++i) {
    const uint64_t word = slot.thread_name[i].load(kRelaxed);
    std::memcpy(name.data() + i * sizeof word, &word, sizeof word);
  }
  return {name.data(), ::strnlen(name.data(), name.size())};
}

// Where `rank` (from 1) of the values lies, as if a bucket's values were spread evenly over it.
uint64_t value_at(const Sums& buckets, uint64_t rank) {
  uint64_t below = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i] == 0 || below + buckets[i] < rank) {
      below += buckets[i];
      continue;
    }
    const uint64_t width = bucket_begin(i + 1) - bucket_begin(i);
    const double part = (static_cast<double>(rank - below) - 0.5) / static_cast<double>(buckets[i]);
    return bucket_begin(i) + static_cast<uint64_t>(part * static_cast<double>(width));
  }
  return 0;
}

void add_slot(SpanSummary& sum, Sums& buckets, const Slot& slot, const Histogram& histogram, size_t name) {
  const Totals& totals = slot.totals[name];
  const uint64_t count = totals.count.load(kRelaxed);
  if (count == 0) return;  // its buckets are untouched pages: leave them so
  sum.count += count;
  sum.total_ns += totals.total_ns.load(kRelaxed);
  sum.largest_ns = std::max(sum.largest_ns, totals.largest_ns.load(kRelaxed));
  for (size_t i = 0; i < kBuckets; ++i) buckets[i] += histogram[i].load(kRelaxed);
}

void finish(SpanSummary& sum, const Sums& buckets) {
  uint64_t all = 0;
  for (const uint64_t n : buckets) all += n;
  if (all == 0) return;
  sum.p50_ns = std::min(value_at(buckets, (all + 1) / 2), sum.largest_ns);
  sum.p99_ns = std::min(value_at(buckets, all - all / 100), sum.largest_ns);
}

bool usable(const Region& region) { return region.magic.load(std::memory_order_acquire) == kMagic; }

size_t first_slot(size_t process) { return process * kSlotsPerProcess; }

}  // namespace

std::vector<OpenNow> open_spans(const Region& region, Process process, uint64_t now) {
  std::vector<OpenNow> found;
  if (!usable(region)) return found;
  const size_t names = std::min<size_t>(region.span_names.load(kRelaxed), kMostSpans);
  for (const Slot& slot : std::span(region.slots).subspan(first_slot(static_cast<size_t>(process)), kSlotsPerProcess)) {
    const uint32_t depth = std::min<uint32_t>(slot.depth.load(std::memory_order_acquire), kMostOpen);
    if (slot.thread.load(kRelaxed) == 0) continue;
    for (uint32_t i = 0; i < depth; ++i) {
      const OpenSpan& open = slot.open[i];
      const uint32_t name = open.name.load(kRelaxed);
      if (name >= names) continue;
      const uint64_t start = open.start_ns.load(kRelaxed);
      found.push_back({process, slot.life.load(kRelaxed), slot.thread.load(kRelaxed), thread_name_of(slot),
                       text_of(region.spans[name]), open.detail.load(kRelaxed), now > start ? now - start : 0, i});
    }
  }
  return found;
}

std::optional<Snapshot> snapshot(const Region& region) {
  if (!usable(region)) return std::nullopt;
  Snapshot result;
  result.taken_ns = now_ns();
  result.run_ns = result.taken_ns - std::min(result.taken_ns, region.start_ns.load(kRelaxed));
  const size_t spans = std::min<size_t>(region.span_names.load(kRelaxed), kMostSpans);
  const size_t counters = std::min<size_t>(region.counter_names.load(kRelaxed), kMostCounters);
  const auto buckets = std::make_unique<Sums>();
  for (size_t process = 0; process < kProcesses; ++process) {
    const auto first = result.spans.size();
    for (size_t name = 0; name < spans; ++name) {
      SpanSummary sum{text_of(region.spans[name]), static_cast<Process>(process)};
      buckets->fill(0);
      for (size_t i = first_slot(process); i < first_slot(process + 1); ++i) {
        if (region.slots[i].used.load(kRelaxed) == 0) continue;
        add_slot(sum, *buckets, region.slots[i], region.histograms[i][name], name);
      }
      finish(sum, *buckets);
      if (sum.count != 0) result.spans.push_back(std::move(sum));
    }
    std::sort(result.spans.begin() + static_cast<std::ptrdiff_t>(first), result.spans.end(),
              [](const auto& a, const auto& b) { return std::tie(b.total_ns, a.name) < std::tie(a.total_ns, b.name); });
    for (size_t name = 0; name < counters; ++name) {
      uint64_t value = 0;
      for (size_t i = first_slot(process); i < first_slot(process + 1); ++i) {
        value += region.slots[i].counters[name].load(kRelaxed);
      }
      if (value != 0) result.counters.push_back({text_of(region.counters[name]), static_cast<Process>(process), value});
    }
    const auto open = open_spans(region, static_cast<Process>(process), result.taken_ns);
    result.open.insert(result.open.end(), open.begin(), open.end());
  }
  return result;
}

}  // namespace orrery::measure
