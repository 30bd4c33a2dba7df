// What measuring costs: ns per span and per count, against reading the clock twice, which no span can do without.
#include <benchmark/benchmark.h>

#include "shared/measure/span.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::bench {
namespace {

using namespace measure;

Region& attached_region(bool tracing) {
  static Mapping mapping = [] {
    auto file = make_memory_file("bench", Bytes{sizeof(Region)});
    return std::move(*Mapping::of(*file, Bytes{0}, Bytes{sizeof(Region)}));
  }();
  auto& region = *reinterpret_cast<Region*>(mapping.data());
  format(region);
  region.tracing = tracing ? 1 : 0;
  attach(region, Process::guest);
  return region;
}

void clock_twice(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(now_ns());
    benchmark::DoNotOptimize(now_ns());
  }
}
BENCHMARK(clock_twice);

void span(benchmark::State& state) {
  attached_region(false);
  for (auto _ : state) const Span span(SpanName::commit, 1);
}
BENCHMARK(span);

void span_traced(benchmark::State& state) {
  attached_region(true);
  for (auto _ : state) const Span span(SpanName::commit, 1);
}
BENCHMARK(span_traced);

void span_in_span(benchmark::State& state) {
  attached_region(false);
  const Span outer(SpanName::submission);
  for (auto _ : state) const Span span(SpanName::commit, 1);
}
BENCHMARK(span_in_span);

void span_not_attached(benchmark::State& state) {
  detach();
  for (auto _ : state) const Span span(SpanName::commit, 1);
}
BENCHMARK(span_not_attached);

void counter(benchmark::State& state) {
  attached_region(false);
  for (auto _ : state) count(Counter::flips);
}
BENCHMARK(counter);

}  // namespace
}  // namespace orrery::bench
