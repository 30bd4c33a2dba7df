// The route that runs waves on the host: what they may store to is known then, and the device can't store elsewhere.
#include <fmt/format.h>
#include <algorithm>

#include "gpu-service/dispatch/executor_state.hpp"
#include "shared/log.hpp"
#include "shared/measure/span.hpp"

namespace orrery::dispatch {
namespace {

constexpr size_t kMostWritable = 32;  // page tables kept

std::vector<TracedBuffer> written_only(const std::vector<memory::GuestSpan>& spans) {
  std::vector<TracedBuffer> written;
  written.reserve(spans.size());
  for (const auto& span : spans) written.push_back({span, false, true});
  return written;
}

}  // namespace

// Runs the waves and keeps what they answer; by any thread, with the thread's own memory.
TracedBuffers DispatchExecutor::State::host_run_now(const DispatchState& dispatch, const LaunchGeometry& geometry,
                                                    const ReadProgram& program, const memory::GuestMemory& asker) {
  const measure::Span span(measure::SpanName::host_run, dispatch.program.value);
  const auto began = std::chrono::steady_clock::now();
  auto run = run_on_host(**program.program, dispatch, geometry, asker, {.most_waves = kMostDispatchWaves});
  const TraceKey key = trace_key(dispatch, program.content, true);
  if (!run) {
    TracedBuffers refusal = std::unexpected(std::move(run.error().reason));
    traces.keep(key, refusal, std::move(run.error().notes));
    return refusal;
  }
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  log::debug("{}: program {:#x}: {} of its groups ran on the host in {:.1f} ms ({} steps, {} ranges){}",
             place_of(dispatch), dispatch.program.value, run->groups, ms, run->steps, run->writable.size(),
             run->sampled ? ", a sample" : "");
  host_run_groups.fetch_add(run->groups, std::memory_order_relaxed);
  TracedBuffers answer = written_only(run->writable);
  traces.keep(key, answer, std::move(run->notes));
  return answer;
}

// True: the run has been made by a worker, or there are none.
bool DispatchExecutor::State::host_run_ahead(const DispatchState& dispatch, const Launch& launch) {
  if (workers.threads() == 0 || launch.wait == Wait::yes) return true;
  const TraceKey key = trace_key(dispatch, launch.program->content, true);
  const auto known = std::ranges::find(host_runs, key, &HostRunAhead::key);
  if (known != host_runs.end()) {
    if (!known->done->load(std::memory_order_acquire)) return false;
    host_runs.erase(known);
    return true;
  }
  auto done = std::make_shared<std::atomic<bool>>(false);
  host_runs.push_back({key, done});
  workers.start([this, dispatch, geometry = launch.geometry, program = launch.program, done] {
    memory::GuestMemory own = memory.another();
    if (own.refresh()) (void)host_run_now(dispatch, geometry, *program, own);
    done->store(true, std::memory_order_release);
  });
  return false;
}

std::expected<Prepared, RouteRefusal> DispatchExecutor::State::allowing_host_runs(const DispatchState& dispatch,
                                                                                  const Launch& launch) {
  auto prepared = prepare_addressed(dispatch, launch);
  if (!prepared) return prepared;
  const TraceKey key = trace_key(dispatch, launch.program->content, true);
  const auto may_change = [this](memory::GuestSpan span) { return may_be_written(span); };
  // While a worker runs them, the memo is not asked again.
  const auto under_way = std::ranges::find(host_runs, key, &HostRunAhead::key);
  if (launch.wait == Wait::no && under_way != host_runs.end() && !under_way->done->load(std::memory_order_acquire)) {
    return std::unexpected(RouteRefusal{.later = true});
  }
  std::optional<TracedBuffers> found = traces.find(key, memory, may_change);
  if (!found) {
    // A worker's run may have read what recorded work stores: then the memo does not serve it.
    if (!host_run_ahead(dispatch, launch)) return std::unexpected(RouteRefusal{.later = true});
    if (workers.threads() != 0) found = traces.find(key, memory, may_change);
  }
  if (!found) {
    if (!pending.empty()) {
      ++counters.waits_for_reads;
      if (!wait_all()) return std::unexpected(RouteRefusal{.reason = "the device is lost"});
    }
    found = host_run_now(dispatch, launch.geometry, *launch.program, memory);
  }
  if (!*found) return std::unexpected(RouteRefusal{.reason = found->error()});
  std::vector<memory::GuestSpan> spans;
  for (const TracedBuffer& buffer : **found) {
    spans.push_back(buffer.span);
    add_written(buffer.span, *prepared);
  }
  auto table = writable_pages(spans);
  if (!table) return std::unexpected(RouteRefusal{.reason = table.error().describe()});
  prepared->page_table = *table;
  return prepared;
}

// A page table in which only these ranges can be stored to.
Result<std::shared_ptr<DevicePageTable>> DispatchExecutor::State::writable_pages(
    std::span<const memory::GuestSpan> spans) {
  std::vector<uint64_t> numbers;
  for (const auto& span : spans) {
    if (span.size.value == 0) continue;
    const uint64_t last = (span.begin.value + span.size.value - 1) >> shader::kPageBits;
    for (uint64_t page = span.begin.value >> shader::kPageBits; page <= last; ++page) {
      if (numbers.empty() || numbers.back() != page) numbers.push_back(page);
    }
  }
  const auto used = std::span(writable).first(writable_used);
  const auto known = std::ranges::find(used, numbers, &WritablePages::numbers);
  if (known != used.end()) return known->table;
  if (writable.size() == kMostWritable && writable_used == kMostWritable) {
    // Recorded work may still walk them.
    ORRERY_TRY(wait_all());
    writable_used = 0;
  }
  if (writable_used == writable.size()) {
    auto table = DevicePageTable::create(device);
    if (!table) return std::unexpected(std::move(table.error()));
    ORRERY_TRY(table->update(page_runs(memory.entries()).runs, arena));
    writable.push_back({{}, std::make_shared<DevicePageTable>(std::move(*table))});
  }
  WritablePages& next = writable[writable_used++];
  next.table->let_store_only(numbers);
  next.numbers = std::move(numbers);
  return next.table;
}

}  // namespace orrery::dispatch
