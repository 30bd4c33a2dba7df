// The routes by which a dispatch is prepared, in their order, and what is remembered of them. A route says where the
// dispatch's memory accesses go: to bound buffers that were traced, through the device page table, or to what a run of
// its waves on the host found.
#pragma once

#include <compare>
#include <expected>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/content_hash.hpp"
#include "shared/quantity.hpp"

namespace orrery::dispatch {

enum class Route : uint8_t { trace, device_addressed, host_run, count };
const char* name(Route route);  // as in reports: "trace", "device-addressed", "host run"

// The answer of a trace that only running waves on the host could go on from.
inline constexpr std::string_view kHostRunPassed = "host run passed";
// A dispatch of more waves is not run on the host whole; its groups are sampled, or the run is passed over.
inline constexpr uint64_t kMostDispatchWaves = 4096;  // MOST_DISPATCH_WAVES

// Why a route did not prepare a dispatch.
struct RouteRefusal {
  std::string reason;
  bool host_run_passed = false;  // running waves might tell more
  bool later = false;            // nothing is refused: the preparation is under way, ask again
  bool host_run_helps = false;   // what it touches is known but can't be bound: waves may be run all the same
};
struct RouteTried {
  Route route;
  std::string reason;
  friend bool operator==(const RouteTried&, const RouteTried&) = default;
};
std::string describe(std::span<const RouteTried> tried);  // "trace: ...; device-addressed: ...; host run: ..."

// A program, by its place and its bytes: other bytes at the same address are another one.
struct ProgramKey {
  GuestAddress address;
  ContentHash code;
  friend auto operator<=>(const ProgramKey&, const ProgramKey&) = default;
};

// Where the next dispatch of a program starts. For any thread.
class RememberedRoutes {
 public:
  static constexpr size_t kMostPrograms = 4096;
  Route start(const ProgramKey& program) const;  // trace when nothing is remembered
  void remember(const ProgramKey& program, Route route);
  void forget(const ProgramKey& program);
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<ProgramKey, Route> routes_;
};

// How each route prepares. `trace` is asked without host runs; `host_run` is what it is with them allowed
// (allowing_host_runs). An empty `device_addressed`: it is not offered.
template <class Prepared>
struct RouteSteps {
  using Answer = std::expected<Prepared, RouteRefusal>;
  std::function<Answer()> trace, device_addressed, host_run;
};

template <class Prepared>
struct Routed {
  Prepared prepared;
  Route route;
};
struct NotRouted {
  std::vector<RouteTried> tried;  // every route, in the order in which they were tried
  bool later = false;             // under way; nothing was remembered
};

// The order: the trace; device-addressed; the host's runs only where device addressing is not offered, or was refused
// after a run was passed over, or where buffers can't be bound. A program whose runs were passed over and which was
// prepared device-addressed starts there from then on; so does one that the host's runs prepared. A refused preparation
// leaves nothing behind.
template <class Prepared>
std::expected<Routed<Prepared>, NotRouted> prepare_routed(RememberedRoutes& remembered, const ProgramKey& program,
                                                          const RouteSteps<Prepared>& steps) {
  NotRouted failed;
  bool passed = false, helps = false;
  // The prepared dispatch, or nothing: then it was refused, or is under way.
  const auto ask = [&](Route route, const auto& step) -> std::optional<Routed<Prepared>> {
    auto answer = step();
    if (answer) return Routed<Prepared>{std::move(*answer), route};
    failed.later = failed.later || answer.error().later;
    passed = passed || answer.error().host_run_passed;
    helps = helps || passed || answer.error().host_run_helps;
    if (!failed.later) failed.tried.push_back({route, std::move(answer.error().reason)});
    return std::nullopt;
  };
  const bool offered = static_cast<bool>(steps.device_addressed);
  const Route start = remembered.start(program);
  if (start == Route::host_run || (start == Route::device_addressed && offered)) {
    auto done = ask(start, start == Route::host_run ? steps.host_run : steps.device_addressed);
    if (done) return std::move(*done);
    if (failed.later) return std::unexpected(std::move(failed));
    // Other registers may make another program of it: from the start again.
    remembered.forget(program);
    failed = {};
    passed = helps = false;
  }
  if (auto done = ask(Route::trace, steps.trace)) return std::move(*done);
  if (failed.later) return std::unexpected(std::move(failed));
  if (offered) {
    auto done = ask(Route::device_addressed, steps.device_addressed);
    if (failed.later) return std::unexpected(std::move(failed));
    if (done) {
      if (passed) remembered.remember(program, Route::device_addressed);
      return std::move(*done);
    }
  }
  if (helps) {
    auto done = ask(Route::host_run, steps.host_run);
    if (failed.later) return std::unexpected(std::move(failed));
    if (done) {
      if (passed) remembered.remember(program, Route::host_run);
      return std::move(*done);
    }
  }
  return std::unexpected(std::move(failed));
}

}  // namespace orrery::dispatch
