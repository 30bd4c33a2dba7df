// A few threads that prepare programs while the stream goes on.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace orrery::dispatch {

class Workers {
 public:
  explicit Workers(unsigned threads);
  // Waits for the jobs that run; those that have not begun are dropped.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  size_t threads() const { return threads_.size(); }
  // Jobs are begun in order. Without threads the caller does it.
  void start(std::function<void()> job);
  // Waits until no job is left.
  void wait_idle();

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  size_t running_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace orrery::dispatch
