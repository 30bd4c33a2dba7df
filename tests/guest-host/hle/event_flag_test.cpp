#include <gtest/gtest.h>
#include <vector>

#include "guest-host/hle/sync/event_flags.hpp"
#include "tests/guest-host/hle/console_run.hpp"
#include "tests/guest-host/hle/guest_threads.hpp"

namespace orrery::hle {
namespace {

using test::ConsoleRun;
constexpr uint32_t kAll = 1, kAny = 2, kClearAll = 0x10, kClearBits = 0x20;
constexpr uint32_t kNoSuch = 0x80020003, kFault = 0x8002000e;
constexpr uint32_t kBusy = 0x80020010, kInvalid = 0x80020016, kTimedOut = 0x8002003c;

struct Flags {
  ConsoleRun run;
  GuestAddress page = run.allocate(0x4000);
  uint64_t handle_at = page.value, seen_at = page.value + 8, time_at = page.value + 16;
  uint32_t call(const char* name, std::initializer_list<uint64_t> arguments) {
    return static_cast<uint32_t>(run.call32(name, arguments));
  }
  uint64_t create(uint32_t attributes, uint64_t initial) {
    EXPECT_EQ(call("sceKernelCreateEventFlag", {handle_at, 0, attributes, initial, 0}), 0u);
    return run.read<uint64_t>(GuestAddress{handle_at});
  }
  uint32_t poll(uint64_t flag, uint64_t bits, uint32_t mode) {
    return call("sceKernelPollEventFlag", {flag, bits, mode, seen_at});
  }
  uint64_t seen() { return run.read<uint64_t>(GuestAddress{seen_at}); }
};

TEST(EventFlag, all_or_any_of_the_bits_and_what_is_cleared_then) {
  Flags f;
  const uint64_t flag = f.create(0x20, 0b0011);
  EXPECT_EQ(f.poll(flag, 0b0110, kAll), kBusy);
  EXPECT_EQ(f.poll(flag, 0b0110, kAny), 0u);
  EXPECT_EQ(f.seen(), 0b0011u);
  EXPECT_EQ(f.call("sceKernelSetEventFlag", {flag, 0b1100}), 0u);
  EXPECT_EQ(f.poll(flag, 0b0110, kAll | kClearBits), 0u);
  EXPECT_EQ(f.seen(), 0b1111u) << "as it was before clearing";
  EXPECT_EQ(f.poll(flag, 0b1001, kAll), 0u);
  EXPECT_EQ(f.seen(), 0b1001u);
  EXPECT_EQ(f.poll(flag, 0b1000, kAny | kClearAll), 0u);
  EXPECT_EQ(f.poll(flag, ~0ull, kAny), kBusy);
  EXPECT_EQ(f.call("sceKernelSetEventFlag", {flag, 0b111}), 0u);
  EXPECT_EQ(f.call("sceKernelClearEventFlag", {flag, 0b101}), 0u) << "keeps the bits that are given";
  EXPECT_EQ(f.poll(flag, ~0ull, kAny), 0u);
  EXPECT_EQ(f.seen(), 0b101u);
}

TEST(EventFlag, a_wait_ends_when_another_thread_sets_the_bits) {
  Flags f;
  const uint64_t flag = f.create(0x20, 0);
  std::thread other([&] {
    for (const uint64_t bit : {1, 2, 4}) f.call("sceKernelSetEventFlag", {flag, bit});
  });
  EXPECT_EQ(f.call("sceKernelWaitEventFlag", {flag, 7, kAll | kClearAll, f.seen_at, 0}), 0u);
  other.join();
  EXPECT_EQ(f.seen(), 7u);
  EXPECT_EQ(f.poll(flag, ~0ull, kAny), kBusy);
}

TEST(EventFlag, a_time_out_is_told_and_leaves_no_time) {
  Flags f;
  const uint64_t flag = f.create(0, 8);
  f.run.write(GuestAddress{f.time_at}, uint32_t{500});
  EXPECT_EQ(f.call("sceKernelWaitEventFlag", {flag, 7, kAny, f.seen_at, f.time_at}), kTimedOut);
  EXPECT_EQ(f.run.read<uint32_t>(GuestAddress{f.time_at}), 0u);
  EXPECT_EQ(f.seen(), 8u);
}

TEST(EventFlag, deleting_and_cancelling_end_waits_each_with_its_error) {
  constexpr int kCanceledHere = 85, kAccessHere = 13, kNoSuchHere = 3;
  clock::GuestClock clock(true);
  sync::EventFlags flags;
  const uint64_t cancelled = flags.create(sync::EventFlags::kMulti, 0);
  const uint64_t deleted = flags.create(sync::EventFlags::kMulti, 0);
  const auto forever = clock::Deadline::never(clock);
  uint64_t seen[2] = {};
  uint32_t waiters = 0;
  std::vector<int> results;
  // The third has its turn when the first two wait.
  clock::play(*clock.turns(), {[&] { results.push_back(flags.wait(cancelled, 1, kAny, seen[0], forever)); },
                               [&] { results.push_back(flags.wait(deleted, 1, kAny, seen[1], forever)); },
                               [&] {
                                 EXPECT_EQ(flags.cancel(cancelled, 1, waiters), 0);
                                 EXPECT_EQ(flags.destroy(deleted), 0);
                               }});
  EXPECT_EQ(waiters, 1u);
  EXPECT_EQ(results, (std::vector<int>{kCanceledHere, kAccessHere})) << "the new bits would satisfy the first";
  EXPECT_EQ(seen[0], 1u);
  EXPECT_EQ(flags.wait(deleted, 1, kAny, seen[1], forever), kNoSuchHere);
}

TEST(EventFlag, a_single_waiter_s_flag_takes_no_second) {
  constexpr int kPermHere = 1;
  clock::GuestClock clock(true);
  sync::EventFlags flags;
  const uint64_t flag = flags.create(sync::EventFlags::kSingle, 0);
  const auto forever = clock::Deadline::never(clock);
  uint64_t seen[2] = {};
  clock::play(*clock.turns(), {[&] { EXPECT_EQ(flags.wait(flag, 1, kAny, seen[0], forever), 0); },
                               [&] {
                                 EXPECT_EQ(flags.wait(flag, 2, kAny, seen[1], forever), kPermHere);
                                 EXPECT_EQ(flags.set(flag, 1), 0);
                               }});
  EXPECT_EQ(seen[0], 1u);
}

TEST(EventFlag, what_is_no_flag_and_no_wait_is_refused) {
  Flags f;
  const uint64_t flag = f.create(0x20, 1);
  EXPECT_EQ(f.poll(flag + 100, 1, kAny), kNoSuch);
  EXPECT_EQ(f.poll(flag, 0, kAny), kInvalid);
  for (const uint32_t mode : {0u, 3u, 0x30u | kAny, 0x100u | kAny}) EXPECT_EQ(f.poll(flag, 1, mode), kInvalid) << mode;
  const uint64_t deleted = f.create(0x20, 1);
  EXPECT_EQ(f.call("sceKernelDeleteEventFlag", {deleted}), 0u);
  EXPECT_EQ(f.poll(deleted, 1, kAny), kNoSuch);
  EXPECT_EQ(f.call("sceKernelCreateEventFlag", {f.handle_at, 0, 0x30, 0, 0}), kInvalid);
  EXPECT_EQ(f.call("sceKernelCreateEventFlag", {8, 0, 0x20, 0, 0}), kFault);
  EXPECT_EQ(f.call("sceKernelWaitEventFlag", {flag, 1, kAny | kClearAll, 8, 0}), kFault);
  EXPECT_EQ(f.poll(flag, 1, kAny), 0u) << "no bit was lost to a bad pointer";
}

}  // namespace
}  // namespace orrery::hle
