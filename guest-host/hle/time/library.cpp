#include "guest-host/hle/time/library.hpp"

#include <algorithm>

#include "guest-host/hle/thread_errno.hpp"

namespace orrery::hle::time {
namespace {

constexpr auto kKernel = "libkernel";
constexpr auto kPosix = "libScePosix";
constexpr int64_t kSecond = 1'000'000'000;

struct TimeSpec {
  int64_t seconds, nanoseconds;
};
struct TimeValue {
  int64_t seconds, microseconds;
};

enum FreebsdClock : int32_t {
  kRealtime = 0,
  kVirtual = 1,
  kProf = 2,
  kMonotonic = 4,
  kUptime = 5,
  kThreadCpu = 14,
  kProcessCpu = 15
};

// 0 or a FreeBSD errno.
int sleep_for_spec(Environment& env, clock::GuestClock& clock, GuestAddress wish, GuestAddress rest) {
  const auto spec = env.memory.read_value<TimeSpec>(wish);
  if (!spec) return kEfault;
  if (spec->seconds < 0 || spec->nanoseconds < 0 || spec->nanoseconds >= kSecond) return kEinval;
  constexpr int64_t kMost = 1'000'000'000;  // seconds: 31 years, far from overflow
  clock.sleep(std::chrono::seconds(std::min(spec->seconds, kMost)) + std::chrono::nanoseconds(spec->nanoseconds));
  if (rest.value != 0 && !env.memory.write_value(rest, TimeSpec{0, 0})) return kEfault;
  return 0;
}

int read_clock(Environment& env, clock::GuestClock& clock, int32_t which, GuestAddress to) {
  // The precise and fast variants are numbered up to 13.
  if (which < 0 || which > kProcessCpu) return kEinval;
  clock.asked();
  const bool calendar = which == kRealtime || which == 9 || which == 10 || which == 13;
  const int64_t ns = (calendar ? clock.since_epoch() : clock.now()).count();
  return env.memory.write_value(to, TimeSpec{ns / kSecond, ns % kSecond}) ? 0 : kEfault;
}

int read_time_of_day(Environment& env, clock::GuestClock& clock, GuestAddress to) {
  clock.asked();
  const int64_t us = clock.since_epoch().count() / 1000;
  return env.memory.write_value(to, TimeValue{us / 1'000'000, us % 1'000'000}) ? 0 : kEfault;
}

// libkernel's functions answer the error, POSIX's -1 and errno.
int32_t kernel_answer(int error) { return error == 0 ? 0 : kernel_error(error); }

}  // namespace

void add_library(Registry& registry, Environment& env, clock::GuestClock& clock) {
  const auto posix_answer = [&env](int error) {
    if (error == 0) return 0;
    set_thread_errno(env, error);
    return -1;
  };
  const auto sleep_micros = [&clock](uint32_t micros) {
    clock.sleep(std::chrono::microseconds(micros));
    return 0;
  };
  const auto sleep_seconds = [&clock](uint32_t seconds) {
    clock.sleep(std::chrono::seconds(seconds));
    return 0;
  };
  registry.add(kKernel, "sceKernelUsleep", sleep_micros);
  registry.add(kPosix, "usleep", sleep_micros);
  registry.add(kKernel, "sceKernelSleep", sleep_seconds);
  registry.add(kPosix, "sleep", sleep_seconds);
  registry.add(kKernel, "sceKernelNanosleep", [&](GuestAddress wish, GuestAddress rest) {
    return kernel_answer(sleep_for_spec(env, clock, wish, rest));
  });
  registry.add(kPosix, "nanosleep", [&env, &clock, posix_answer](GuestAddress wish, GuestAddress rest) {
    return posix_answer(sleep_for_spec(env, clock, wish, rest));
  });

  const auto ticks = [&clock] {
    clock.asked();
    return clock.ticks();
  };
  registry.add(kKernel, "sceKernelGetProcessTime", [&clock]() {
    clock.asked();
    return static_cast<uint64_t>(clock.now().count()) / 1000;
  });
  registry.add(kKernel, "sceKernelGetProcessTimeCounter", ticks);
  registry.add(kKernel, "sceKernelGetProcessTimeCounterFrequency", [&clock]() { return clock.tick_frequency(); });
  registry.add(kKernel, "sceKernelReadTsc", ticks);
  registry.add(kKernel, "sceKernelGetTscFrequency", [&clock]() { return clock.tick_frequency(); });

  registry.add(kKernel, "sceKernelClockGettime",
               [&](int32_t which, GuestAddress to) { return kernel_answer(read_clock(env, clock, which, to)); });
  registry.add(kPosix, "clock_gettime", [&env, &clock, posix_answer](int32_t which, GuestAddress to) {
    return posix_answer(read_clock(env, clock, which, to));
  });
  registry.add(kKernel, "sceKernelGettimeofday",
               [&](GuestAddress to) { return kernel_answer(read_time_of_day(env, clock, to)); });
  registry.add(kPosix, "gettimeofday", [&env, &clock, posix_answer](GuestAddress to, GuestAddress /*zone*/) {
    return posix_answer(read_time_of_day(env, clock, to));
  });
}

}  // namespace orrery::hle::time
