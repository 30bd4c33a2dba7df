#include "protocol/spans.hpp"

#include <fmt/format.h>
#include <bit>

namespace orrery::protocol {
namespace {

using std::chrono::nanoseconds;

constexpr std::array<std::string_view, static_cast<size_t>(SpanName::count)> kNames{
    "queue full",         "dispatch: buffers", "settled read", "harvest", "upload",
    "dispatch on device", "device: run",       "write-back",   "present"};

// Four buckets an octave.
size_t bucket_of(uint64_t ns) {
  if (ns < 4) return static_cast<size_t>(ns);
  const auto octave = static_cast<size_t>(std::bit_width(ns)) - 1;
  return std::min<size_t>(4 * (octave - 1) + (ns >> (octave - 2) & 3), kSpanBuckets - 1);
}
uint64_t middle_of(size_t bucket) {
  if (bucket < 4) return bucket;
  const size_t octave = bucket / 4 + 1;
  const uint64_t width = 1ull << (octave - 2);
  return (4 + bucket % 4) * width + width / 2;
}

}  // namespace

std::string_view name_of(SpanName span) { return kNames[static_cast<size_t>(span)]; }

void Spans::add(SpanName span, nanoseconds took) {
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(took.count(), 0));
  SpanCount& counted = of(span);
  counted.count.fetch_add(1, std::memory_order_relaxed);
  counted.total_ns.fetch_add(ns, std::memory_order_relaxed);
  counted.buckets[bucket_of(ns)].fetch_add(1, std::memory_order_relaxed);
  uint64_t longest = counted.longest_ns.load(std::memory_order_relaxed);
  while (longest < ns && !counted.longest_ns.compare_exchange_weak(longest, ns, std::memory_order_relaxed)) {
  }
}

nanoseconds Spans::total(SpanName span) const { return nanoseconds(of(span).total_ns.load(std::memory_order_relaxed)); }
nanoseconds Spans::longest(SpanName span) const {
  return nanoseconds(of(span).longest_ns.load(std::memory_order_relaxed));
}

nanoseconds Spans::median(SpanName span) const {
  const SpanCount& counted = of(span);
  const uint64_t half = (counted.count.load(std::memory_order_relaxed) + 1) / 2;
  uint64_t sum = 0;
  for (size_t bucket = 0; half != 0 && bucket < kSpanBuckets; ++bucket) {
    sum += counted.buckets[bucket].load(std::memory_order_relaxed);
    if (sum >= half) return nanoseconds(middle_of(bucket));
  }
  return {};
}

std::string Spans::text() const {
  std::string out;
  for (uint32_t i = 0; i < kNames.size(); ++i) {
    const auto span = static_cast<SpanName>(i);
    if (count(span) == 0) continue;
    const auto us = [](nanoseconds ns) { return static_cast<double>(ns.count()) / 1e3; };
    out += fmt::format("  {}: {} times, {:.3f} ms in all, median {:.1f} us, longest {:.1f} us\n", kNames[i],
                       count(span), us(total(span)) / 1e3, us(median(span)), us(longest(span)));
  }
  return out;
}

std::string Spans::json() const {
  std::string out = "{";
  for (uint32_t i = 0; i < kNames.size(); ++i) {
    const auto span = static_cast<SpanName>(i);
    if (count(span) == 0) continue;
    out += fmt::format(R"({}"{}": {{"count": {}, "total_ns": {}, "median_ns": {}, "longest_ns": {}}})",
                       out.size() > 1 ? ", " : "", kNames[i], count(span), total(span).count(), median(span).count(),
                       longest(span).count());
  }
  return out + "}";
}

}  // namespace orrery::protocol
