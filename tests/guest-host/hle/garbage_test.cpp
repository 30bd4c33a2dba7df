// Every function that a console serves, called with garbage: it may refuse, it must not crash or hang.
#include <gtest/gtest.h>
#include <random>
#include <set>

#include "tests/guest-host/hle/console_run.hpp"

namespace orrery::hle {
namespace {

using test::ConsoleRun;

// Functions that may rightly wait for ever once garbage happens to name a live object. They are called with objects
// that do not exist in the test after this one.
const std::set<std::string> kMayWait = {
    "sceKernelWaitEqueue",     "sceKernelWaitSema",      "scePthreadMutexLock",
    "pthread_mutex_lock",      "scePthreadCondWait",     "pthread_cond_wait",
    "scePthreadCondTimedwait", "pthread_cond_timedwait", "scePthreadMutexTimedlock",
    "scePthreadJoin",          "pthread_join",
};

std::vector<uint64_t> interesting_values(ConsoleRun& run) {
  const GuestAddress page = run.allocate(0x4000);
  const uint64_t end = page.value + 0x4000;
  return {0,
          1,
          2,
          3,
          7,
          8,
          16,
          0xff,
          0xffff,
          0x7fffffff,
          0x80000000,
          0xffffffff,
          1ull << 32,
          1ull << 40,
          1ull << 47,
          0x8000000000000000,
          ~0ull,
          ~0ull - 7,
          0x0A6C000000000100,
          0x0A6C000000000101,
          0x5359000000000001,
          0x7A01000000000000,
          page.value,
          page.value + 1,
          page.value + 0x100,
          end - 1,
          end - 4,
          end - 8,
          end,
          0xC800040A0,
          0x400000,
          reinterpret_cast<uint64_t>(&run)};
}

void call_with_garbage(ConsoleRun& run, const std::vector<std::string>& names, uint32_t seed, int rounds) {
  const auto values = interesting_values(run);
  std::mt19937_64 random(seed);
  std::vector<std::string> order = names;
  std::sort(order.begin(), order.end());
  for (int round = 0; round < rounds; ++round) {
    for (const std::string& name : order) {
      if (kMayWait.contains(name)) continue;
      std::vector<uint64_t> arguments;
      for (int i = 0; i < 14; ++i) {
        arguments.push_back(random() % 8 == 0 ? random() : values[random() % values.size()]);
      }
      auto* binding = run.registry().find_name(name);
      if (binding == nullptr) continue;  // known by its NID only
      SCOPED_TRACE(name);
      ConsoleRun::invoke(*binding, arguments);
    }
  }
}

TEST(Garbage, no_function_crashes_on_random_arguments) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    ConsoleRun run({.logical_clock = true});
    call_with_garbage(run, run.names(), seed, 40);
  }
}

TEST(Garbage, no_function_crashes_on_random_arguments_after_a_proper_start) {
  ConsoleRun run({.logical_clock = true});
  const GuestAddress page = run.allocate(0x4000), pixels = run.allocate(0x10000);
  run.call("scePadInit", {});
  run.call("scePadOpen", {0, 0, 0, 0});
  const uint64_t port = static_cast<uint64_t>(run.call32("sceVideoOutOpen", {0xff, 0, 0, 0}));
  run.call("sceVideoOutSetBufferAttribute2", {page.value, 0x8000000000000000, 0, 128, 128, 0, 0, 0});
  run.write(page + Bytes{0x100}, std::array<uint64_t, 4>{pixels.value, 0, 0, 0});
  run.call("sceVideoOutRegisterBuffers2", {port, 0, 0, page.value + 0x100, 1, page.value, 0, 0});
  call_with_garbage(run, run.names(), 99, 100);
}

TEST(Garbage, waiting_functions_answer_errors_for_objects_that_do_not_exist) {
  ConsoleRun run({.logical_clock = true});
  const GuestAddress page = run.allocate(0x4000);
  run.write(page, std::array<uint64_t, 2>{0xdeadbeef, 0xdeadbeef});
  for (const std::string& name : kMayWait) {
    SCOPED_TRACE(name);
    EXPECT_NE(run.call32(name, {0xdeadbeef, 0xdeadbeef, 1, 0, 0}), 0);
    EXPECT_NE(run.call32(name, {page.value, page.value + 8, 1, 0, 0}), 0);
    EXPECT_NE(run.call32(name, {~0ull, ~0ull, ~0ull, ~0ull, ~0ull}), 0);
  }
}

TEST(Garbage, every_function_is_known_by_name_or_is_the_version_gate) {
  ConsoleRun run;
  size_t unnamed = 0;
  for (const std::string& name : run.names()) unnamed += run.registry().find_name(name) == nullptr ? 1 : 0;
  EXPECT_LE(unnamed, 1u);
  EXPECT_GT(run.names().size(), 150u);
}

}  // namespace
}  // namespace orrery::hle
