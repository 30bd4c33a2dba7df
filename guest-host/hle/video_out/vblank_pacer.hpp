// Runs actions at vertical blanks, 60 a second, one action per blank and in order. Host time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace orrery::hle::video_out {

// The first vertical blank after `now`, of a display that started at `start`.
std::chrono::steady_clock::time_point next_vblank(std::chrono::steady_clock::time_point start,
                                                  std::chrono::steady_clock::time_point now);

class VblankPacer {
 public:
  VblankPacer();
  ~VblankPacer();
  // Runs `action` at the next blank that is free, but at least `blanks` blanks after the action before it.
  void at_vblank(uint32_t blanks, std::function<void()> action);

 private:
  void run();
  struct Waiting {
    uint32_t blanks;
    std::function<void()> action;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<Waiting> waiting_;
  std::chrono::steady_clock::time_point start_;
  std::thread thread_;
};

}  // namespace orrery::hle::video_out
