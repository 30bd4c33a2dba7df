#include "gpu-service/dispatch/routes.hpp"

#include <gtest/gtest.h>

namespace orrery::dispatch {
namespace {

// A preparation whose routes answer as a test says, and note that they were asked.
struct Preparation {
  RememberedRoutes remembered;
  ProgramKey program{{0x1000}, {1, 2}};
  bool offered = true;
  std::map<Route, RouteRefusal> refusals;  // routes that are not here succeed
  std::vector<Route> asked;

  std::expected<Routed<int>, NotRouted> prepare() {
    asked.clear();
    const auto step = [this](Route route) {
      return [this, route]() -> std::expected<int, RouteRefusal> {
        asked.push_back(route);
        const auto refused = refusals.find(route);
        if (refused != refusals.end()) return std::unexpected(refused->second);
        return static_cast<int>(route) + 10;
      };
    };
    RouteSteps<int> steps{step(Route::trace), {}, step(Route::host_run)};
    if (offered) steps.device_addressed = step(Route::device_addressed);
    return prepare_routed(remembered, program, steps);
  }
  Route start() const { return remembered.start(program); }
};

using Asked = std::vector<Route>;
const RouteRefusal kCannotKnow{"host run passed: the store at 0x40", true};

TEST(Routes, a_dispatch_whose_buffers_resolve_stays_bound) {
  Preparation p;
  const auto routed = p.prepare();
  ASSERT_TRUE(routed);
  EXPECT_EQ(routed->route, Route::trace);
  EXPECT_EQ(routed->prepared, 10);
  EXPECT_EQ(p.asked, Asked{Route::trace});
  EXPECT_EQ(p.remembered.size(), 0u);
}

TEST(Routes, a_cannot_know_refusal_is_prepared_device_addressed) {
  Preparation p;
  p.refusals = {{Route::trace, kCannotKnow}};
  const auto first = p.prepare();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->route, Route::device_addressed);
  EXPECT_EQ(p.asked, (Asked{Route::trace, Route::device_addressed}));
  // The next dispatch goes there directly.
  ASSERT_TRUE(p.prepare());
  EXPECT_EQ(p.asked, Asked{Route::device_addressed});
  // Other bytes at the address, or the same bytes elsewhere, are another program.
  p.program.code.low = 7;
  ASSERT_TRUE(p.prepare());
  EXPECT_EQ(p.asked.front(), Route::trace);
}

TEST(Routes, a_descriptor_that_can_not_be_bound_is_not_remembered) {
  Preparation p;
  p.refusals = {{Route::trace, {"buffer 1: it is swizzled"}}};
  ASSERT_TRUE(p.prepare());
  ASSERT_TRUE(p.prepare());
  EXPECT_EQ(p.asked, (Asked{Route::trace, Route::device_addressed}));
  EXPECT_EQ(p.remembered.size(), 0u);
}

TEST(Routes, without_device_addressing_the_host_runs) {
  Preparation p;
  p.offered = false;
  p.refusals = {{Route::trace, kCannotKnow}};
  const auto routed = p.prepare();
  ASSERT_TRUE(routed);
  EXPECT_EQ(routed->route, Route::host_run);
  EXPECT_EQ(p.asked, (Asked{Route::trace, Route::host_run}));
}

TEST(Routes, a_refused_device_preparation_falls_back_to_the_hosts_runs) {
  Preparation p;
  p.refusals = {{Route::trace, kCannotKnow},
                {Route::device_addressed, {"fetched image 10"}},
                {Route::host_run, {"a wave does not end"}}};
  const auto refused = p.prepare();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().tried, (std::vector<RouteTried>{{Route::trace, kCannotKnow.reason},
                                                            {Route::device_addressed, "fetched image 10"},
                                                            {Route::host_run, "a wave does not end"}}));
  EXPECT_EQ(
      describe(refused.error().tried),
      "trace: host run passed: the store at 0x40; device-addressed: fetched image 10; host run: a wave does not end");
  // It remembers nothing,
  EXPECT_EQ(p.remembered.size(), 0u);
  // and a host run that succeeds is remembered.
  p.refusals.erase(Route::host_run);
  const auto run = p.prepare();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->route, Route::host_run);
  EXPECT_EQ(p.start(), Route::host_run);
  ASSERT_TRUE(p.prepare());
  EXPECT_EQ(p.asked, Asked{Route::host_run});
}

TEST(Routes, a_refusal_that_no_host_run_could_lift_runs_nothing) {
  Preparation p;
  p.refusals = {{Route::trace, {"buffer 0: not all of it is mapped"}}, {Route::device_addressed, {"no semantics"}}};
  const auto refused = p.prepare();
  ASSERT_FALSE(refused);
  EXPECT_EQ(p.asked, (Asked{Route::trace, Route::device_addressed}));
  EXPECT_EQ(refused.error().tried.size(), 2u);
}

TEST(Routes, buffers_that_can_not_be_bound_are_found_by_a_host_run_where_nothing_else_is_offered) {
  Preparation p;
  p.offered = false;
  p.refusals = {{Route::trace, {.reason = "buffer 0: it is swizzled", .host_run_helps = true}}};
  const auto routed = p.prepare();
  ASSERT_TRUE(routed);
  EXPECT_EQ(routed->route, Route::host_run);
  // Another dispatch of the program may be bound.
  EXPECT_EQ(p.remembered.size(), 0u);
}

TEST(Routes, a_remembered_route_that_is_refused_now_starts_again) {
  Preparation p;
  p.refusals = {{Route::trace, kCannotKnow}};
  ASSERT_TRUE(p.prepare());
  p.refusals = {{Route::device_addressed, {"no semantics"}}};
  const auto routed = p.prepare();
  ASSERT_TRUE(routed);
  EXPECT_EQ(routed->route, Route::trace);
  EXPECT_EQ(p.asked, (Asked{Route::device_addressed, Route::trace}));
  EXPECT_EQ(p.start(), Route::trace);
}

TEST(Routes, what_is_under_way_is_no_refusal_and_remembers_nothing) {
  Preparation p;
  p.refusals = {{Route::trace, kCannotKnow}, {Route::device_addressed, {"", false, true}}};
  const auto later = p.prepare();
  ASSERT_FALSE(later);
  EXPECT_TRUE(later.error().later);
  EXPECT_EQ(p.asked, (Asked{Route::trace, Route::device_addressed}));
  EXPECT_EQ(p.remembered.size(), 0u);
  p.refusals.erase(Route::device_addressed);
  ASSERT_TRUE(p.prepare());
  EXPECT_EQ(p.start(), Route::device_addressed);
}

TEST(Routes, programs_made_anew_all_the_time_do_not_fill_memory) {
  RememberedRoutes routes;
  for (uint64_t n = 0; n < 3 * RememberedRoutes::kMostPrograms; ++n) {
    routes.remember({{n}, {n, n}}, Route::device_addressed);
  }
  EXPECT_LE(routes.size(), RememberedRoutes::kMostPrograms);
  EXPECT_EQ(routes.start({{0}, {0, 0}}), Route::trace);
}

}  // namespace
}  // namespace orrery::dispatch
