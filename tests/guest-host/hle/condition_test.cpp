#include <gtest/gtest.h>
#include <thread>

#include "guest-host/hle/pthread/sync_objects.hpp"
#include "guest-host/hle/registry.hpp"

namespace orrery::hle::pthread {
namespace {

using namespace std::chrono_literals;
constexpr uint64_t kMain = 100;

struct Bench {
  clock::GuestClock clock{false};
  Mutex mutex{MutexType::error_check};
  Condition condition;

  // A wait that comes back in any case, so that a lost wake-up fails a test and does not hang it.
  int wait(uint64_t thread, std::chrono::nanoseconds limit = 20s) {
    return condition.wait(mutex, thread, clock::Deadline(clock, limit));
  }
  // Starts a thread and returns when it waits, with the mutex held by the caller.
  std::thread waiter(uint64_t thread, int& result) {
    bool counted = false;
    std::thread started([this, thread, &result, &counted] {
      EXPECT_EQ(mutex.lock(thread), 0);
      counted = true;
      result = wait(thread);
      EXPECT_EQ(mutex.unlock(thread), 0);
    });
    for (;;) {
      EXPECT_EQ(mutex.lock(kMain), 0);
      if (counted) return started;
      EXPECT_EQ(mutex.unlock(kMain), 0);
      std::this_thread::yield();
    }
  }
};

TEST(Condition, who_waits_later_does_not_take_the_wake_up_of_who_waits_already) {
  Bench b;
  for (const bool all : {false, true}) {
    int result = -1;
    std::thread first = b.waiter(1, result);
    if (all) {
      b.condition.broadcast();
    } else {
      b.condition.signal();
    }
    // The first can't have the mutex before this wait gives it up.
    EXPECT_EQ(b.wait(kMain, 1ms), kEtimedout);
    EXPECT_EQ(b.mutex.unlock(kMain), 0);
    first.join();
    EXPECT_EQ(result, 0);
  }
}

TEST(Condition, signals_wake_in_the_order_of_waiting) {
  Bench b;
  int first_result = -1, second_result = -1;
  std::thread first = b.waiter(1, first_result);
  EXPECT_EQ(b.mutex.unlock(kMain), 0);
  std::thread second = b.waiter(2, second_result);
  b.condition.signal();
  EXPECT_EQ(b.mutex.unlock(kMain), 0);
  first.join();
  EXPECT_EQ(first_result, 0);
  EXPECT_EQ(b.mutex.lock(kMain), 0);
  EXPECT_EQ(second_result, -1);
  b.condition.signal();
  EXPECT_EQ(b.mutex.unlock(kMain), 0);
  second.join();
  EXPECT_EQ(second_result, 0);
}

TEST(Condition, who_gave_up_takes_no_signal) {
  Bench b;
  EXPECT_EQ(b.mutex.lock(kMain), 0);
  EXPECT_EQ(b.wait(kMain, 1ms), kEtimedout);
  EXPECT_EQ(b.mutex.unlock(kMain), 0);
  int result = -1;
  std::thread other = b.waiter(1, result);
  b.condition.signal();
  EXPECT_EQ(b.mutex.unlock(kMain), 0);
  other.join();
  EXPECT_EQ(result, 0);
}

TEST(Condition, a_barrier_of_two_threads_can_be_used_again_and_again) {
  constexpr uint64_t kRounds = 10'000;
  Bench b;
  uint64_t arrived = 0, rounds = 0;
  const auto work = [&](uint64_t thread) {
    for (uint64_t round = 0; round < kRounds; ++round) {
      ASSERT_EQ(b.mutex.lock(thread), 0);
      if (++arrived == 2) {
        arrived = 0;
        ++rounds;
        b.condition.broadcast();
      } else {
        while (rounds == round) {
          const int result = b.wait(thread);
          if (result != 0) b.mutex.unlock(thread);
          ASSERT_EQ(result, 0) << "in round " << round;
        }
      }
      ASSERT_EQ(b.mutex.unlock(thread), 0);
    }
  };
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  EXPECT_EQ(rounds, kRounds);
}

}  // namespace
}  // namespace orrery::hle::pthread
