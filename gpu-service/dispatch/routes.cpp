#include "gpu-service/dispatch/routes.hpp"

#include <fmt/format.h>

#include "shared/measure/span.hpp"

namespace orrery::dispatch {

const char* name(Route route) {
  switch (route) {
    case Route::trace:
      return "trace";
    case Route::device_addressed:
      return "device-addressed";
    case Route::host_run:
      return "host run";
    case Route::count:
      break;
  }
  return "?";
}

std::string describe(std::span<const RouteTried> tried) {
  std::string text;
  for (const RouteTried& t : tried) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name(t.route), t.reason);
  return text;
}

Route RememberedRoutes::start(const ProgramKey& program) const {
  const measure::CountedLock lock(mutex_);
  const auto found = routes_.find(program);
  return found == routes_.end() ? Route::trace : found->second;
}

void RememberedRoutes::remember(const ProgramKey& program, Route route) {
  const measure::CountedLock lock(mutex_);
  // Code that is made anew all the time must not fill the host's memory; what is forgotten is found out again.
  if (routes_.size() >= kMostPrograms) routes_.clear();
  routes_[program] = route;
}

void RememberedRoutes::forget(const ProgramKey& program) {
  const measure::CountedLock lock(mutex_);
  routes_.erase(program);
}

size_t RememberedRoutes::size() const {
  const measure::CountedLock lock(mutex_);
  return routes_.size();
}

}  // namespace orrery::dispatch
