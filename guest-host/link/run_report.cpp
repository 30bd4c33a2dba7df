#include "guest-host/link/run_report.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "protocol/segment_layout.hpp"
#include "shared/measure/snapshot.hpp"
#include "shared/plain_file.hpp"

namespace orrery::link {

namespace {

// {"harvest": {"count": 1, "total_ns": 2, ...}, ...}. The guest process's share of a name that both have is apart.
std::string spans_of(const measure::Region& region) {
  std::string out;
  std::set<std::string> seen;
  const auto measures = measure::snapshot(region);
  for (const auto& span : measures ? measures->spans : std::vector<measure::SpanSummary>{}) {
    const bool again = !seen.insert(span.name).second;
    out += fmt::format(R"({}"{}{}": {{"count": {}, "total_ns": {}, "median_ns": {}, "p99_ns": {}, "longest_ns": {}}})",
                       out.empty() ? "" : ", ", span.name, again ? " (gpu)" : "", span.count, span.total_ns,
                       span.p50_ns, span.p99_ns, span.largest_ns);
  }
  return "{" + out + "}";
}

std::string recoveries_of(const protocol::Ledger& ledger) {
  std::string out;
  for (uint64_t i = 0; i < std::min(ledger.recoveries.load(), protocol::kKeptRecoveries); ++i) {
    const auto& r = ledger.kept[i];
    out += fmt::format(R"({}{{"died_ns": {}, "retired_ns": {}, "device_open_ns": {}}})", out.empty() ? "" : ", ",
                       r.died_ns.load(), r.retired_ns.load(), r.device_open_ns.load());
  }
  return out;
}

}  // namespace

Result<void> write_run_report(const std::string& path, const protocol::ControlSegment& segment) {
  using protocol::PartName;
  const auto& status = *reinterpret_cast<const protocol::ServiceStatus*>(segment.part(PartName::status).data());
  std::string counters;
  const auto put = [&](const char* name, const std::atomic<uint64_t>& value) {
    counters += fmt::format("{}\"{}\": {}", counters.empty() ? "" : ", ", name, value.load(std::memory_order_relaxed));
  };
  put("lives", status.lives);
  const auto& ledger = *reinterpret_cast<const protocol::Ledger*>(segment.part(PartName::ledger).data());
  put("retired", ledger.entries.first_time);
  put("retired_replayed", ledger.entries.replayed);
  put("quarantined", ledger.entries.quarantined);
  put("stretches", ledger.stretches.first_time);
  put("stretches_replayed", ledger.stretches.replayed);
  put("stretches_quarantined", ledger.stretches.quarantined);
  put("stretches_direct", ledger.direct);
  put("stretches_redone", ledger.redone);
  put("applied_bytes", ledger.applied_bytes);
  put("deaths", ledger.deaths);
  put("refusals", status.refusals);
  put("flips", status.flips);
  put("escapes", status.escapes);
  put("bound_bytes", status.bound_bytes);
  put("uploaded_bytes", status.uploaded_bytes);
  put("written_back_bytes", status.written_back_bytes);
  put("write_conflicts", status.write_conflicts);
  put("harvests", status.harvests);
  put("harvest_scans", status.harvest_scans);
  put("harvested_pages", status.harvested_pages);
  const std::string text = fmt::format("{{\"spans\": {}, \"counters\": {{{}}}, \"recoveries\": [{}]}}\n",
                                       spans_of(segment.measures()), counters, recoveries_of(ledger));
  if (!publish_file(path, {std::as_bytes(std::span(text))})) {
    return fail(ExitCode::usage, "cannot write the report {}: {}", path, std::strerror(errno));
  }
  return {};
}

}  // namespace orrery::link
