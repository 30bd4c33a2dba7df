#include <gtest/gtest.h>
#include <thread>

#include "guest-host/clock/guest_clock.hpp"
#include "tests/guest-host/hle/console_run.hpp"

namespace orrery::clock {
namespace {

using namespace std::chrono_literals;

TEST(GuestClock, logical_time_stands_still_until_a_thread_sleeps_and_then_moves_by_that_much) {
  GuestClock clock(true);
  EXPECT_EQ(clock.now(), 0ns);
  clock.sleep(60s);
  EXPECT_EQ(clock.now(), 60s);
  EXPECT_EQ(clock.ticks(), 60'000'000'000u);
  clock.sleep(0ns);
  clock.sleep(-1s);
  EXPECT_EQ(clock.now(), 60s);
}

TEST(GuestClock, host_time_goes_on) {
  GuestClock clock(false);
  const auto before = clock.now();
  clock.sleep(2ms);
  EXPECT_GE(clock.now() - before, 2ms);
  EXPECT_GT(clock.tick_frequency(), 100'000'000u);
  EXPECT_EQ(clock.tick_frequency(), clock.tick_frequency());
}

TEST(Deadline, in_logical_time_it_passes_when_guest_time_does) {
  GuestClock clock(true);
  EXPECT_TRUE(Deadline(clock, 0ms).passed());
  EXPECT_FALSE(Deadline::never(clock).passed());
  const Deadline deadline(clock, 20ms);
  clock.sleep(19'999us);
  EXPECT_FALSE(deadline.passed());
  EXPECT_FALSE(deadline.without_limit().passed());
  clock.sleep(1us);
  EXPECT_TRUE(deadline.passed());
  EXPECT_FALSE(deadline.without_limit().passed());
}

TEST(Clocks, a_negative_or_unreadable_sleep_is_an_error) {
  hle::test::ConsoleRun run;
  const GuestAddress page = run.allocate(0x4000);
  run.write(page, std::array<int64_t, 2>{0, -1});
  EXPECT_EQ(static_cast<uint32_t>(run.call32("sceKernelNanosleep", {page.value, 0})), 0x80020016u);
  EXPECT_EQ(static_cast<uint32_t>(run.call32("sceKernelNanosleep", {8, 0})), 0x8002000eu);
  EXPECT_EQ(run.call32("nanosleep", {8, 0}), -1);
  EXPECT_EQ(static_cast<uint32_t>(run.call32("sceKernelClockGettime", {4, 8})), 0x8002000eu);
  EXPECT_EQ(static_cast<uint32_t>(run.call32("sceKernelClockGettime", {99, page.value})), 0x80020016u);
  EXPECT_EQ(run.call32("sceKernelClockGettime", {4, page.value}), 0);
}

}  // namespace
}  // namespace orrery::clock
