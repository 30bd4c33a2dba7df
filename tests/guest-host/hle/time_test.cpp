#include <gtest/gtest.h>
#include <thread>

#include "guest-host/clock/guest_clock.hpp"
#include "tests/guest-host/hle/console_run.hpp"

namespace orrery::clock {
namespace {

using namespace std::chrono_literals;

TEST(GuestClock, logical_time_has_no_drift) {
  GuestClock clock(true);
  for (int i = 0; i < 3600; ++i) {
    clock.flip_started();
    clock.flip_completed();
  }
  EXPECT_EQ(clock.now(), 60s);
  clock.flip_started();
  clock.flip_completed();
  EXPECT_EQ(clock.now(), 60s + 16'666'666ns);
}

TEST(GuestClock, host_time_goes_on) {
  GuestClock clock(false);
  const auto before = clock.now();
  clock.sleep(2ms);
  EXPECT_GE(clock.now() - before, 2ms);
  EXPECT_GT(clock.tick_frequency(), 100'000'000u);
  EXPECT_EQ(clock.tick_frequency(), clock.tick_frequency());
}

TEST(Deadline, in_logical_time_it_passes_with_the_flips) {
  GuestClock clock(true);
  const Deadline deadline(clock, 20ms);
  clock.flip_started();
  clock.flip_started();
  EXPECT_FALSE(deadline.passed());
  clock.flip_completed();
  EXPECT_FALSE(deadline.passed());
  clock.flip_completed();
  EXPECT_TRUE(deadline.passed()) << "two flips are 33 ms";
}

TEST(Deadline, in_logical_time_it_passes_when_nothing_could_advance_the_clock) {
  GuestClock clock(true);
  EXPECT_TRUE(Deadline(clock, 0ms).passed());
  const Deadline deadline(clock, 1ms);
  while (!deadline.passed()) std::this_thread::yield();
  EXPECT_EQ(clock.now(), 0ns);
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
