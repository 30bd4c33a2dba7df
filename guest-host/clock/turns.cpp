#include "guest-host/clock/turns.hpp"

#include <algorithm>
#include <utility>

#include "shared/log.hpp"

namespace orrery::clock {
namespace {

using namespace std::chrono_literals;

// Questions a thread may ask in a row for nothing, and what each costs from then on.
constexpr uint32_t kFreeQuestions = 64;
constexpr nanoseconds kQuestionCosts = 100us;
// How often to look again when only the outside (a person, the launcher) can bring anything.
constexpr auto kOutsideSlice = 20ms;
constexpr uint64_t kNothingWakes = UINT64_MAX;

std::atomic<uint64_t> next_id{1};

struct Mine {
  uint64_t owner = 0;
  uint64_t number = 0;
};
thread_local Mine mine_here;

}  // namespace

Turns::Turns(nanoseconds patience) : id_(next_id++), patience_(patience) {
  watch_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

Turns::~Turns() { stop(); }

void Turns::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (auto& [number, thread] : threads_) thread->turn.notify_all();
  posted_.notify_all();
  watching_.notify_all();
}

void Turns::set_outside(Action settle) {
  const std::lock_guard lock(mutex_);
  settle_ = std::move(settle);
}

void Turns::post(Action event) {
  const std::lock_guard lock(mutex_);
  inbox_.push_back(std::move(event));
  posted_.notify_all();
}

Turns::Thread& Turns::mine(Lock& lock) {
  ++calls_;
  if (mine_here.owner == id_) {
    if (const auto known = threads_.find(mine_here.number); known != threads_.end()) {
      Thread& thread = *known->second;
      if (current_ != thread.number && !stopped_) {
        // Its turn was given on while it ran on without a call (`watch`): it takes the next one.
        thread.waits = false;
        posted_.notify_all();
        await_turn(lock, thread);
      }
      return thread;
    }
  }
  // One that nobody enrolled: the title's first.
  auto thread = std::make_shared<Thread>();
  thread->number = next_number_++;
  threads_.emplace(thread->number, thread);
  mine_here = {id_, thread->number};
  if (current_ == 0 && !passing_) {
    current_ = thread->number;
  } else {
    await_turn(lock, *thread);
  }
  return *thread;
}

void Turns::await_turn(Lock& lock, Thread& thread) {
  thread.turn.wait(lock, [&] { return thread.granted || stopped_; });
  thread.granted = false;
}

uint64_t Turns::enroll() {
  Lock lock(mutex_);
  mine(lock);
  auto thread = std::make_shared<Thread>();
  thread->number = next_number_++;
  threads_.emplace(thread->number, thread);
  return thread->number;
}

void Turns::withdraw(uint64_t number) {
  const std::lock_guard lock(mutex_);
  threads_.erase(number);
}

void Turns::begin(uint64_t number) {
  Lock lock(mutex_);
  mine_here = {id_, number};
  const auto thread = threads_.at(number);
  if (current_ == 0 && !passing_) {
    current_ = number;
  } else {
    await_turn(lock, *thread);
  }
}

void Turns::end() {
  Lock lock(mutex_);
  const uint64_t number = mine(lock).number;
  threads_.erase(number);
  mine_here = {};
  ++change_;
  if (current_ == number) pass(lock);
}

void Turns::wait(std::unique_lock<std::mutex>& held, std::optional<nanoseconds> due, bool again) {
  held.unlock();
  {
    Lock lock(mutex_);
    Thread& thread = mine(lock);
    if (!again) {
      ++change_;
      thread.asked = 0;
    }
    thread.looked = change_;
    thread.due = due;
    hand_on(lock, thread);
  }
  held.lock();
}

void Turns::sleep_until(nanoseconds due) {
  Lock lock(mutex_);
  Thread& thread = mine(lock);
  ++change_;
  thread.asked = 0;
  thread.looked = kNothingWakes;
  thread.due = std::max(due, now());
  hand_on(lock, thread);
}

void Turns::hand_on(Lock& lock, Thread& thread) {
  thread.waits = true;
  if (!stopped_) {
    pass(lock);
    await_turn(lock, thread);
  } else {
    // Whoever waits looks at the end of the run itself; not as fast as it can.
    posted_.wait_for(lock, 1ms);
  }
  thread.waits = false;
}

void Turns::asked() {
  uint32_t asked = 0;
  {
    Lock lock(mutex_);
    asked = ++mine(lock).asked;
  }
  if (asked <= kFreeQuestions) return;
  sleep_until(now() + kQuestionCosts);
  Lock lock(mutex_);
  mine(lock).asked = asked;
}

void Turns::settle() {
  Lock lock(mutex_);
  mine(lock);
  settle_outside(lock);
}

void Turns::at(nanoseconds due, Action action) {
  const std::lock_guard lock(mutex_);
  due_.emplace(due, std::move(action));
}

bool Turns::settle_outside(Lock& lock) {
  bool any = false;
  do {
    if (!settle_ || stopped_) break;
    lock.unlock();
    settle_();
    lock.lock();
    // What came may have given the outside more to do.
  } while (deliver(lock) && (any = true));
  return deliver(lock) || any;
}

bool Turns::deliver(Lock& lock) {
  bool any = false;
  while (!inbox_.empty()) {
    std::vector<Action> events = std::exchange(inbox_, {});
    lock.unlock();
    for (const Action& event : events) event();
    lock.lock();
    any = true;
  }
  if (any) ++change_;
  return any;
}

// The next that can run, in the order of numbers from the one whose turn it was.
Turns::Thread* Turns::next() {
  const auto can_run = [&](const Thread& thread) {
    return !thread.waits || thread.looked < change_ || (thread.due && *thread.due <= now());
  };
  const auto after = threads_.upper_bound(current_);
  for (auto at = after; at != threads_.end(); ++at) {
    if (can_run(*at->second)) return at->second.get();
  }
  for (auto at = threads_.begin(); at != after; ++at) {
    if (can_run(*at->second)) return at->second.get();
  }
  return nullptr;
}

void Turns::grant(Thread& thread) {
  current_ = thread.number;
  thread.granted = true;
  thread.turn.notify_all();
}

// Time goes to the earliest that is due; what is due then and no thread is done here.
bool Turns::advance(Lock& lock) {
  std::optional<nanoseconds> earliest;
  if (!due_.empty()) earliest = due_.begin()->first;
  for (const auto& [number, thread] : threads_) {
    if (thread->waits && thread->due && (!earliest || *thread->due < *earliest)) earliest = thread->due;
  }
  if (!earliest) return false;
  now_.store(std::max(now_.load(), earliest->count()), std::memory_order_release);
  while (!due_.empty() && due_.begin()->first <= now()) {
    const Action action = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    lock.unlock();
    action();
    lock.lock();
    ++change_;
  }
  return true;
}

void Turns::pass(Lock& lock) {
  passing_ = true;
  while (!stopped_ && !threads_.empty()) {
    if (Thread* const thread = next()) {
      grant(*thread);
      break;
    }
    if (settle_outside(lock) || advance(lock)) continue;
    posted_.wait_for(lock, kOutsideSlice, [&] { return stopped_ || !inbox_.empty() || next() != nullptr; });
  }
  if (threads_.empty()) current_ = 0;
  passing_ = false;
}

// A thread that waits in guest memory for what another thread or the display does never calls: then the others go on
// beside it.
void Turns::watch(const std::stop_token& stop) {
  Lock lock(mutex_);
  uint64_t holder = 0, calls = 0;
  for (auto since = std::chrono::steady_clock::now(); !stop.stop_requested() && !stopped_;) {
    watching_.wait_for(lock, stop, std::clamp<nanoseconds>(patience_ / 4, 1ms, 500ms), [] { return false; });
    const auto now = std::chrono::steady_clock::now();
    if (current_ == 0 || passing_ || holder != current_ || calls != calls_) {
      holder = current_;
      calls = calls_;
      since = now;
      continue;
    }
    const bool others = threads_.size() > 1 || !due_.empty() || !inbox_.empty();
    if (now - since < patience_ || !others) continue;
    const auto known = threads_.find(holder);
    if (known == threads_.end()) continue;
    Thread& thread = *known->second;
    // As if it waited for ever; `mine` makes it take its turn again at its next call.
    thread.waits = true;
    thread.looked = kNothingWakes;
    thread.due.reset();
    if (broken_.fetch_add(1) == 0) {
      log::warn(
          "logical clock: a thread of the title has run for {} s without asking for anything; the others go on beside "
          "it, and the run may not repeat",
          std::chrono::duration_cast<std::chrono::seconds>(patience_).count());
    }
    current_ = 0;
    pass(lock);
  }
}

}  // namespace orrery::clock
