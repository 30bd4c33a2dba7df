#include <gtest/gtest.h>
#include <thread>

#include "guest-host/hle/equeue/event_queues.hpp"
#include "tests/guest-host/hle/console_run.hpp"

namespace orrery::hle::equeue {
namespace {

using test::ConsoleRun;
constexpr uint32_t kTimedOut = 0x8002003c, kBadQueue = 0x80020009;

struct Bench {
  ConsoleRun run;
  GuestAddress page = run.allocate(0x4000);
  uint64_t queue = 0;
  Bench() {
    EXPECT_EQ(run.call32("sceKernelCreateEqueue", {page.value, 0}), 0);
    queue = run.read<uint64_t>(page);
  }
  GuestAddress events() const { return page + Bytes{0x100}; }
  uint32_t wait(uint64_t most, uint32_t timeout_us) {
    run.write(page + Bytes{8}, timeout_us);
    return static_cast<uint32_t>(
        run.call32("sceKernelWaitEqueue", {queue, events().value, most, page.value + 16, page.value + 8}));
  }
  int32_t count() { return run.read<int32_t>(page + Bytes{16}); }
};

TEST(EventQueue, a_wait_without_events_times_out) {
  Bench s;
  EXPECT_EQ(s.wait(1, 0), kTimedOut);
  EXPECT_EQ(s.wait(1, 1000), kTimedOut);
  EXPECT_EQ(s.count(), 0);
}

TEST(EventQueue, every_trigger_is_delivered_once_in_order) {
  Bench s;
  ASSERT_EQ(s.run.call32("sceKernelAddUserEvent", {s.queue, 5}), 0);
  for (uint64_t i = 1; i <= 3; ++i) ASSERT_EQ(s.run.call32("sceKernelTriggerUserEvent", {s.queue, 5, i}), 0);
  ASSERT_EQ(s.wait(2, 0), 0u);
  EXPECT_EQ(s.count(), 2);
  EXPECT_EQ(s.run.read<KernelEvent>(s.events()).user_data, 1u);
  EXPECT_EQ(s.run.call("sceKernelGetEventUserData", {s.events().value + sizeof(KernelEvent)}), 2u);
  EXPECT_EQ(s.run.call32("sceKernelGetEventFilter", {s.events().value}), kFilterUser);
  ASSERT_EQ(s.wait(2, 0), 0u);
  EXPECT_EQ(s.count(), 1);
  EXPECT_EQ(s.wait(2, 0), kTimedOut);
}

TEST(EventQueue, a_deleted_queue_wakes_its_waiter_with_an_error) {
  Bench s;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(s.run.call32("sceKernelDeleteEqueue", {s.queue}), 0);
  });
  EXPECT_EQ(
      static_cast<uint32_t>(s.run.call32("sceKernelWaitEqueue", {s.queue, s.events().value, 1, s.page.value + 16, 0})),
      kBadQueue);
  other.join();
  EXPECT_EQ(static_cast<uint32_t>(s.run.call32("sceKernelDeleteEqueue", {s.queue})), kBadQueue);
}

TEST(EventQueue, an_event_is_not_lost_to_a_bad_pointer) {
  Bench s;
  ASSERT_EQ(s.run.call32("sceKernelAddUserEvent", {s.queue, 5}), 0);
  ASSERT_EQ(s.run.call32("sceKernelTriggerUserEvent", {s.queue, 5, 1}), 0);
  EXPECT_EQ(static_cast<uint32_t>(s.run.call32("sceKernelWaitEqueue", {s.queue, 8, 1, 0, 0})), 0x8002000eu);
  EXPECT_EQ(s.wait(1, 0), 0u);
}

TEST(EventQueue, an_event_that_a_full_queue_drops_is_counted_by_name) {
  Bench s;
  ASSERT_EQ(s.run.call32("sceKernelAddUserEvent", {s.queue, 5}), 0);
  for (uint64_t i = 1; i <= kMostKept; ++i) s.run.call32("sceKernelTriggerUserEvent", {s.queue, 5, i});
  EXPECT_TRUE(s.run.refusals().counts().empty()) << s.run.refusals().summary();
  for (uint64_t i = 1; i <= 3; ++i) s.run.call32("sceKernelTriggerUserEvent", {s.queue, 5, 1000 + i});
  const auto counts = s.run.refusals().counts();
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts.begin()->second, 3u);
  EXPECT_NE(counts.begin()->first.find("event queue"), std::string::npos);
  ASSERT_EQ(s.wait(kMostKept + 1, 0), 0u);
  ASSERT_EQ(s.count(), static_cast<int32_t>(kMostKept));
  const auto last = s.events() + Bytes{(kMostKept - 1) * sizeof(KernelEvent)};
  EXPECT_EQ(s.run.read<KernelEvent>(last).user_data, 1003u) << "the newest is there";
}

TEST(EventQueue, an_interrupt_of_the_gpu_reaches_every_registration_with_its_context_id) {
  Bench s;
  ASSERT_EQ(s.run.call32("sceAgcDriverAddEqEvent", {s.queue, 3, 77}), 0);
  s.run.console().queue_event(0, 0x1234);
  ASSERT_EQ(s.wait(4, 0), 0u);
  ASSERT_EQ(s.count(), 1);
  const auto event = s.run.read<KernelEvent>(s.events());
  EXPECT_EQ(event.ident, 3u);
  EXPECT_EQ(event.filter, -14);
  EXPECT_EQ(event.flags, 0x20);
  EXPECT_EQ(event.data, 0x1234ll << 16 | 0xff00);
  EXPECT_EQ(event.user_data, 77u);
}

}  // namespace
}  // namespace orrery::hle::equeue
