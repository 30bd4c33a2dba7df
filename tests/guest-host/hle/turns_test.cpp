#include "guest-host/clock/turns.hpp"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <thread>

#include "guest-host/clock/guest_clock.hpp"
#include "guest-host/hle/pthread/sync_objects.hpp"
#include "guest-host/hle/sync/event_flags.hpp"
#include "guest-host/hle/sync/semaphores.hpp"
#include "tests/guest-host/hle/guest_threads.hpp"

namespace orrery::clock {
namespace {

using namespace std::chrono_literals;

// What guest threads noted; they run one at a time, so it needs no lock (and a sanitizer would tell).
struct Notes {
  const GuestClock& clock;
  std::vector<std::string> lines;
  void add(int thread, const std::string& what) {
    lines.push_back(fmt::format("{} us: {}: {}", clock.now() / 1us, thread, what));
  }
};

TEST(Turns, sleepers_wake_in_the_order_of_guest_time_and_at_its_exact_moment) {
  GuestClock clock(true);
  Notes notes{clock, {}};
  std::vector<Body> bodies;
  for (const int ms : {30, 10, 20}) {
    bodies.push_back([&, ms] {
      clock.sleep(std::chrono::milliseconds(ms));
      notes.add(ms, "awake");
    });
  }
  play(*clock.turns(), bodies);
  EXPECT_EQ(notes.lines,
            (std::vector<std::string>{"10000 us: 10: awake", "20000 us: 20: awake", "30000 us: 30: awake"}));
}

TEST(Turns, threads_go_round_in_the_order_of_their_making) {
  GuestClock clock(true);
  Notes notes{clock, {}};
  std::vector<Body> bodies;
  for (int thread = 1; thread <= 3; ++thread) {
    bodies.push_back([&, thread] {
      for (int round = 0; round < 2; ++round) {
        notes.add(thread, std::to_string(round));
        clock.sleep(0ns);
      }
    });
  }
  play(*clock.turns(), bodies);
  EXPECT_EQ(notes.lines, (std::vector<std::string>{"0 us: 1: 0", "0 us: 2: 0", "0 us: 3: 0", "0 us: 1: 1", "0 us: 2: 1",
                                                   "0 us: 3: 1"}));
}

// Six threads at everything that threads wait for, each step drawn from a seed; between the steps, the host's time is
// disturbed by another seed.
std::vector<std::string> random_run(uint32_t program, uint32_t noise) {
  GuestClock clock(true);
  Notes notes{clock, {}};
  hle::pthread::Mutex mutex(hle::pthread::MutexType::normal);
  hle::pthread::Condition condition;
  hle::sync::Semaphores semaphores;
  hle::sync::EventFlags flags;
  const uint64_t semaphore = semaphores.create(1, 1000);
  const uint64_t flag = flags.create(hle::sync::EventFlags::kMulti, 0);
  std::vector<Body> bodies;
  for (int thread = 1; thread <= 6; ++thread) {
    bodies.push_back([&, thread] {
      std::mt19937 steps(program * 100 + static_cast<uint32_t>(thread));
      std::mt19937 disturb(noise * 100 + static_cast<uint32_t>(thread));
      const auto id = static_cast<uint64_t>(thread);
      for (int step = 0; step < 60; ++step) {
        if (noise != 0 && disturb() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(disturb() % 300));
        const Deadline soon(clock, std::chrono::microseconds(steps() % 3000));
        uint64_t seen = 0;
        int result = 0;
        const auto what = static_cast<uint32_t>(steps() % 9);
        switch (what) {
          case 0:
            clock.sleep(std::chrono::microseconds(steps() % 500));
            break;
          case 1:
            result = mutex.lock(id, soon);
            if (result == 0) {
              clock.sleep(std::chrono::microseconds(steps() % 200));
              result = 100 + mutex.unlock(id);
            }
            break;
          case 2:
            if (mutex.lock(id, Deadline::never(clock)) == 0) {
              result = condition.wait(mutex, id, soon);
              mutex.unlock(id);
            }
            break;
          case 3:
            condition.signal();
            break;
          case 4:
            condition.broadcast();
            break;
          case 5:
            result = semaphores.wait(semaphore, 1, soon);
            break;
          case 6:
            result = semaphores.signal(semaphore, 1);
            break;
          case 7:
            result = flags.wait(flag, 1ull << steps() % 4,
                                hle::sync::EventFlags::kAny | hle::sync::EventFlags::kClearBits, seen, soon);
            break;
          default:
            result = flags.set(flag, steps() % 16);
            break;
        }
        notes.add(thread, fmt::format("{} gives {} {}", what, result, seen));
      }
    });
  }
  play(*clock.turns(), bodies);
  notes.add(0, fmt::format("broken {}", clock.turns()->broken()));
  return notes.lines;
}

TEST(Turns, a_run_of_many_threads_repeats_whatever_the_host_does) {
  for (uint32_t program = 1; program <= 5; ++program) {
    const auto once = random_run(program, 0);
    ASSERT_EQ(once.size(), 6u * 60 + 1);
    for (uint32_t noise = 1; noise <= 3; ++noise) ASSERT_EQ(random_run(program, noise), once) << program;
  }
  EXPECT_NE(random_run(1, 0), random_run(2, 0));
}

TEST(Turns, a_time_out_comes_at_its_guest_time_and_not_when_the_wait_is_satisfied_first) {
  GuestClock clock(true);
  hle::sync::Semaphores semaphores;
  const uint64_t semaphore = semaphores.create(0, 10);
  Notes notes{clock, {}};
  play(*clock.turns(), {[&] {
                          EXPECT_EQ(semaphores.wait(semaphore, 1, {clock, 5ms}), 60);
                          notes.add(1, "out");
                          EXPECT_EQ(semaphores.wait(semaphore, 1, {clock, 5ms}), 0);
                          notes.add(1, "in");
                        },
                        [&] {
                          clock.sleep(7ms);
                          semaphores.signal(semaphore, 1);
                        }});
  EXPECT_EQ(notes.lines, (std::vector<std::string>{"5000 us: 1: out", "7000 us: 1: in"}));
}

TEST(Turns, who_asks_for_the_time_without_end_sees_it_pass_and_others_get_their_turns) {
  GuestClock clock(true);
  Notes notes{clock, {}};
  play(*clock.turns(), {[&] {
                          while (clock.now() < 20ms) clock.asked();
                          notes.add(1, "asked enough");
                        },
                        [&] {
                          clock.sleep(10ms);
                          notes.add(2, "slept");
                        }});
  EXPECT_EQ(notes.lines, (std::vector<std::string>{"10000 us: 2: slept", "20000 us: 1: asked enough"}));
}

TEST(Turns, asking_now_and_then_costs_no_time) {
  GuestClock clock(true);
  play(*clock.turns(), {[&] {
    for (int frame = 0; frame < 100; ++frame) {
      for (int i = 0; i < 20; ++i) clock.asked();
      clock.sleep(1ms);
    }
  }});
  EXPECT_EQ(clock.now(), 100ms);
}

TEST(Turns, time_stands_still_until_the_outside_has_settled_and_what_it_brought_comes_first) {
  GuestClock clock(true);
  Turns& turns = *clock.turns();
  hle::sync::Semaphores semaphores;
  const uint64_t semaphore = semaphores.create(0, 10);
  int work = 0;  // that the outside has left
  turns.set_outside([&] {
    if (work == 0) return;
    std::this_thread::sleep_for(5ms);
    turns.post([&] { semaphores.signal(semaphore, 1); });
    --work;
  });
  Notes notes{clock, {}};
  play(turns, {[&] {
                 work = 2;
                 EXPECT_EQ(semaphores.wait(semaphore, 2, {clock, 1ms}), 0);
                 notes.add(1, "both");
               },
               [&] {
                 clock.sleep(1us);
                 notes.add(2, "slept");
               }});
  EXPECT_EQ(notes.lines, (std::vector<std::string>{"0 us: 1: both", "1 us: 2: slept"}));
}

TEST(Turns, what_is_due_is_done_before_the_threads_that_are_due_then) {
  GuestClock clock(true);
  Turns& turns = *clock.turns();
  bool done = false;
  play(turns, {[&] {
         turns.at(2ms, [&] { done = true; });
         clock.sleep(1999us);
         EXPECT_FALSE(done);
         clock.sleep(1us);
         EXPECT_TRUE(done);
       }});
  EXPECT_EQ(clock.now(), 2ms);
}

TEST(Turns, a_thread_that_waits_in_memory_alone_does_not_stop_the_others_and_is_told) {
  Turns turns(20ms);
  std::atomic<bool> flag{false};
  play(turns, {[&] {
                 while (!flag) std::this_thread::yield();
                 turns.sleep_until(1ms);
               },
               [&] {
                 turns.sleep_until(1us);
                 flag = true;
               }});
  EXPECT_EQ(turns.broken(), 1u);
  EXPECT_EQ(turns.now(), 1ms);
}

TEST(Turns, a_thread_that_only_computes_alone_breaks_nothing) {
  Turns turns(5ms);
  play(turns, {[] { std::this_thread::sleep_for(40ms); }});
  EXPECT_EQ(turns.broken(), 0u);
}

TEST(Turns, stopping_ends_every_wait) {
  GuestClock clock(true);
  hle::sync::Semaphores semaphores;
  const uint64_t semaphore = semaphores.create(0, 10);
  std::thread stopper([&] {
    std::this_thread::sleep_for(20ms);
    semaphores.destroy(semaphore);
    clock.turns()->stop();
  });
  int result = 0;
  play(*clock.turns(), {[&] { result = semaphores.wait(semaphore, 1, Deadline::never(clock)); }});
  stopper.join();
  EXPECT_EQ(result, 13);
}

TEST(NextBlank, blanks_are_sixtieths_of_a_second_without_drift) {
  EXPECT_EQ(next_blank(0ns), 16'666'666ns);
  EXPECT_EQ(next_blank(16'666'665ns), 16'666'666ns);
  EXPECT_EQ(next_blank(16'666'666ns), 33'333'333ns);
  nanoseconds time{};
  for (int i = 1; i <= 3600; ++i) {
    const nanoseconds before = time;
    time = next_blank(time);
    ASSERT_GT(time, before);
    ASSERT_EQ(time.count(), int64_t{i} * 1'000'000'000 / 60);
  }
  EXPECT_EQ(next_blank(100h), 100h + 16'666'666ns);
}

}  // namespace
}  // namespace orrery::clock
