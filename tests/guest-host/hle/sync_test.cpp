#include <gtest/gtest.h>
#include <atomic>
#include <thread>

#include "tests/guest-host/hle/console_run.hpp"

namespace orrery::hle {
namespace {

using test::ConsoleRun;
constexpr uint32_t kPerm = 0x80020001, kDeadlock = 0x8002000b, kBusy = 0x80020010, kInvalid = 0x80020016;
constexpr uint32_t kTimedOut = 0x8002003c, kNoSuch = 0x80020003;

struct Sync {
  ConsoleRun run;
  GuestAddress page = run.allocate(0x4000);
  uint64_t mutex = page.value, condition = page.value + 8, attribute = page.value + 16;
  uint32_t call(const char* name, std::initializer_list<uint64_t> arguments) {
    return static_cast<uint32_t>(run.call32(name, arguments));
  }
  uint32_t on_another_thread(const char* name, uint64_t argument) {
    uint32_t result = 0;
    std::thread([&] { result = call(name, {argument}); }).join();
    return result;
  }
};

TEST(Mutex, the_default_one_checks_errors) {
  Sync s;
  ASSERT_EQ(s.call("scePthreadMutexInit", {s.mutex, 0, 0}), 0u);
  EXPECT_EQ(s.call("scePthreadMutexLock", {s.mutex}), 0u);
  EXPECT_EQ(s.call("scePthreadMutexLock", {s.mutex}), kDeadlock);
  EXPECT_EQ(s.on_another_thread("scePthreadMutexTrylock", s.mutex), kBusy);
  EXPECT_EQ(s.on_another_thread("scePthreadMutexUnlock", s.mutex), kPerm);
  EXPECT_EQ(s.call("scePthreadMutexDestroy", {s.mutex}), kBusy);
  EXPECT_EQ(s.call("scePthreadMutexUnlock", {s.mutex}), 0u);
  EXPECT_EQ(s.call("scePthreadMutexUnlock", {s.mutex}), kPerm);
  EXPECT_EQ(s.call("scePthreadMutexDestroy", {s.mutex}), 0u);
  EXPECT_EQ(s.call("scePthreadMutexLock", {s.mutex}), kInvalid);
}

TEST(Mutex, a_recursive_one_counts) {
  Sync s;
  ASSERT_EQ(s.call("scePthreadMutexattrInit", {s.attribute}), 0u);
  ASSERT_EQ(s.call("scePthreadMutexattrSettype", {s.attribute, 2}), 0u);
  EXPECT_EQ(s.call("scePthreadMutexattrSettype", {s.attribute, 5}), kInvalid);
  ASSERT_EQ(s.call("scePthreadMutexInit", {s.mutex, s.attribute, 0}), 0u);
  EXPECT_EQ(s.call("scePthreadMutexLock", {s.mutex}), 0u);
  EXPECT_EQ(s.call("scePthreadMutexLock", {s.mutex}), 0u);
  EXPECT_EQ(s.call("scePthreadMutexUnlock", {s.mutex}), 0u);
  EXPECT_EQ(s.on_another_thread("scePthreadMutexTrylock", s.mutex), kBusy);
  EXPECT_EQ(s.call("scePthreadMutexUnlock", {s.mutex}), 0u);
  EXPECT_EQ(s.on_another_thread("scePthreadMutexTrylock", s.mutex), 0u);
}

TEST(Mutex, a_zeroed_variable_is_a_mutex_and_posix_names_answer_plain_errors) {
  Sync s;
  EXPECT_EQ(s.call("pthread_mutex_lock", {s.mutex}), 0u);
  EXPECT_EQ(s.call("pthread_mutex_lock", {s.mutex}), 11u);
  EXPECT_EQ(s.call("pthread_mutex_unlock", {s.mutex}), 0u);
}

TEST(Mutex, it_excludes) {
  Sync s;
  uint64_t counter = 0;
  const auto work = [&] {
    for (int i = 0; i < 2000; ++i) {
      s.call("scePthreadMutexLock", {s.mutex});
      ++counter;
      s.call("scePthreadMutexUnlock", {s.mutex});
    }
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  EXPECT_EQ(counter, 4000u);
}

TEST(Condition, a_signal_wakes_one_waiter_and_a_broadcast_all) {
  Sync s;
  std::atomic<int> waiting{0}, woken{0};
  const auto wait = [&] {
    s.call("scePthreadMutexLock", {s.mutex});
    ++waiting;
    EXPECT_EQ(s.call("scePthreadCondWait", {s.condition, s.mutex}), 0u);
    ++woken;
    s.call("scePthreadMutexUnlock", {s.mutex});
  };
  std::thread a(wait), b(wait), c(wait);
  // Whoever holds the mutex after all three counted knows that they wait.
  while (waiting < 3) std::this_thread::yield();
  s.call("scePthreadMutexLock", {s.mutex});
  s.call("scePthreadCondSignal", {s.condition});
  s.call("scePthreadMutexUnlock", {s.mutex});
  while (woken < 1) std::this_thread::yield();
  EXPECT_EQ(woken, 1);
  s.call("scePthreadCondBroadcast", {s.condition});
  a.join();
  b.join();
  c.join();
  EXPECT_EQ(woken, 3);
}

TEST(Condition, a_timed_wait_gives_up_and_holds_the_mutex_again) {
  Sync s;
  ASSERT_EQ(s.call("scePthreadMutexLock", {s.mutex}), 0u);
  EXPECT_EQ(s.call("scePthreadCondTimedwait", {s.condition, s.mutex, 1000}), kTimedOut);
  EXPECT_EQ(s.on_another_thread("scePthreadMutexTrylock", s.mutex), kBusy);
  EXPECT_EQ(s.call("scePthreadMutexUnlock", {s.mutex}), 0u);
  EXPECT_EQ(s.call("scePthreadCondTimedwait", {s.condition, s.mutex, 1000}), kPerm) << "without the mutex";
}

TEST(Semaphore, it_counts_waits_and_gives_up) {
  Sync s;
  ASSERT_EQ(s.call("sceKernelCreateSema", {s.page.value, 0, 0, 1, 2, 0}), 0u);
  const uint64_t semaphore = s.run.read<uint64_t>(s.page);
  EXPECT_EQ(s.call("sceKernelWaitSema", {semaphore, 1, 0}), 0u);
  EXPECT_EQ(s.call("sceKernelPollSema", {semaphore, 1}), kBusy);
  s.run.write<uint32_t>(s.page + Bytes{8}, 1000);
  EXPECT_EQ(s.call("sceKernelWaitSema", {semaphore, 1, s.page.value + 8}), kTimedOut);
  EXPECT_EQ(s.run.read<uint32_t>(s.page + Bytes{8}), 0u);
  EXPECT_EQ(s.call("sceKernelSignalSema", {semaphore, 3}), kInvalid) << "past its limit";
  std::thread other([&] { s.call("sceKernelSignalSema", {semaphore, 2}); });
  EXPECT_EQ(s.call("sceKernelWaitSema", {semaphore, 2, 0}), 0u);
  other.join();
  EXPECT_EQ(s.call("sceKernelDeleteSema", {semaphore}), 0u);
  EXPECT_EQ(s.call("sceKernelDeleteSema", {semaphore}), kNoSuch);
  EXPECT_EQ(s.call("sceKernelCreateSema", {s.page.value, 0, 0, 3, 2, 0}), kInvalid);
}

TEST(Threads, what_is_no_thread_can_t_be_joined_and_what_is_no_code_can_t_be_started) {
  Sync s;
  EXPECT_EQ(s.call("scePthreadJoin", {12345, 0}), kNoSuch);
  EXPECT_EQ(s.call("scePthreadDetach", {12345}), kNoSuch);
  EXPECT_EQ(s.call("scePthreadCreate", {s.page.value, 0, s.page.value + 64, 0, 0}), kInvalid);
  EXPECT_NE(s.run.call("scePthreadSelf", {}), 0u);
  EXPECT_EQ(s.run.call("scePthreadSelf", {}), s.run.call("pthread_self", {}));
}

}  // namespace
}  // namespace orrery::hle
