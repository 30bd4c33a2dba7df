#include "gpu-service/dispatch/program_reports.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>
#include <vector>

namespace orrery::dispatch {
namespace {

uint64_t dispatches_of(const ProgramReport& report) {
  return std::accumulate(report.dispatches.begin(), report.dispatches.end(), report.refused);
}

std::string line(const std::string& name, const ProgramReport& report) {
  std::string routes;
  const auto add = [&](uint64_t count, const char* what) {
    if (count != 0) routes += fmt::format("{}{} {}", routes.empty() ? "" : ", ", count, what);
  };
  for (size_t i = 0; i < report.dispatches.size(); ++i)
    add(report.dispatches[i], dispatch::name(static_cast<Route>(i)));
  add(report.refused, "refused");
  std::string text = fmt::format("  {}: {}", name, routes.empty() ? "nothing" : routes);
  if (report.hits != 0 || report.misses != TraceMisses{}) {
    text += fmt::format("; memo: {} hits, {}", report.hits, describe(report.misses));
  }
  if (report.bound_bytes != 0) text += fmt::format("; {} bytes bound", report.bound_bytes);
  if (report.uploaded_bytes != 0) text += fmt::format("; {} uploaded", report.uploaded_bytes);
  if (report.written_back_bytes != 0) text += fmt::format("; {} written back", report.written_back_bytes);
  if (!report.why.empty()) text += "; " + report.why;
  return text + "\n";
}

}  // namespace

ProgramReport& ProgramReports::of(const ProgramKey& program) {
  const auto known = reports_.find(program);
  if (known != reports_.end()) return known->second;
  return reports_.size() < kMostPrograms ? reports_[program] : others_;
}

std::string ProgramReports::text(size_t most) const {
  std::vector<const std::pair<const ProgramKey, ProgramReport>*> sorted;
  for (const auto& entry : reports_) sorted.push_back(&entry);
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto* e) { return dispatches_of(e->second); });
  std::string text;
  for (size_t i = 0; i < std::min(most, sorted.size()); ++i) {
    const auto& [key, report] = *sorted[i];
    text += line(fmt::format("{:#x} {}", key.address.value, key.code.hex()), report);
  }
  if (sorted.size() > most) text += fmt::format("  and {} programs more\n", sorted.size() - most);
  if (together_ != 0) text += fmt::format("  {} bytes written back by several programs together\n", together_);
  if (dispatches_of(others_) != 0) text += line("programs that were not told apart", others_);
  return text;
}

}  // namespace orrery::dispatch
