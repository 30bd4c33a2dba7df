// The logical clock's rule, for any number of guest threads: one thread runs at a time, and hands on its turn only
// where it waits, sleeps or asks too often. Turns go round in the order of the threads' making. Guest time stands still
// while a thread can run; when none can, and nothing outside (the GPU) can move either, it jumps to the next thing that
// is due. So what a run does depends on the title alone, as long as its threads talk through the system's functions.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace orrery::clock {

using std::chrono::nanoseconds;

class Turns {
 public:
  using Action = std::function<void()>;
  // `patience`: how long a thread may hold its turn in host time without a call while others could run.
  explicit Turns(nanoseconds patience = std::chrono::seconds(5));
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  nanoseconds now() const { return nanoseconds(now_.load(std::memory_order_acquire)); }

  // Returns when nothing outside can move by itself; what that brought was handed to `post` before.
  void set_outside(Action settle);
  // From any thread: something came from outside. It is done when the outside has settled, in the order of posting.
  void post(Action event);
  // The calling thread gave the outside something to do: waits until it settled, and does what was posted.
  void settle();
  // Done when guest time comes to `due`. Its thread is the one that waits then; it may not wait itself.
  void at(nanoseconds due, Action action);

  // A thread about to be made, by the one that makes it; `begin` on the new one before its guest code, `end` after it.
  uint64_t enroll();
  void begin(uint64_t number);
  void end();
  void withdraw(uint64_t number);  // it could not be made

  // Hands on the turn and returns with the next one: when somebody else has done something, or at `due`. `held` is open
  // meanwhile. `again`: the caller has only looked at its condition since it last returned from here.
  void wait(std::unique_lock<std::mutex>& held, std::optional<nanoseconds> due, bool again);
  void sleep_until(nanoseconds due);
  // The caller asked for something that changes with time. Who asks without end gets a little time for it.
  void asked();

  // From now on nobody waits here: the run ends.
  void stop();
  // Times that a thread held its turn too long and others went on beside it: such a run may not repeat.
  uint64_t broken() const { return broken_.load(); }

 private:
  struct Thread {
    uint64_t number = 0;
    bool waits = false;  // else it has just been made, or runs
    bool granted = false;
    uint64_t looked = 0;             // the change up to which it knows that it must wait
    std::optional<nanoseconds> due;  // of what it waits for
    uint32_t asked = 0;
    std::condition_variable turn;
  };
  using Lock = std::unique_lock<std::mutex>;

  Thread& mine(Lock& lock);
  void await_turn(Lock& lock, Thread& thread);
  void hand_on(Lock& lock, Thread& thread);
  // Gives the turn to whoever is next; does what is due until there is somebody. The calling thread has it till then.
  void pass(Lock& lock);
  Thread* next();
  void grant(Thread& thread);
  bool deliver(Lock& lock);
  bool advance(Lock& lock);
  // Answers whether anything came.
  bool settle_outside(Lock& lock);
  void watch(const std::stop_token& stop);

  const uint64_t id_;  // tells the thread-local record's owner
  const nanoseconds patience_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::map<uint64_t, std::shared_ptr<Thread>> threads_;
  std::multimap<nanoseconds, Action> due_;
  std::vector<Action> inbox_;
  Action settle_;
  uint64_t next_number_ = 1;
  uint64_t current_ = 0;  // whose turn it is; 0: nobody's
  uint64_t change_ = 1;   // counts what threads and events did, after which a waiting thread must look again
  uint64_t calls_ = 0;    // into here: a thread that makes none is watched
  bool passing_ = false;  // somebody is in `pass`
  bool stopped_ = false;
  std::atomic<int64_t> now_{0};
  std::atomic<uint64_t> broken_{0};
  std::condition_variable_any watching_;
  std::jthread watch_;
};

}  // namespace orrery::clock
