#include "gpu-service/dispatch/workers.hpp"

#include <pthread.h>
#include <utility>

#include "shared/measure/span.hpp"

namespace orrery::dispatch {

Workers::Workers(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

Workers::~Workers() {
  {
    const measure::CountedLock lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  threads_.clear();
}

void Workers::start(std::function<void()> job) {
  if (threads_.empty()) return job();
  {
    const measure::CountedLock lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void Workers::wait_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && running_ == 0; });
}

void Workers::serve() {
  ::pthread_setname_np(::pthread_self(), "worker");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    const auto job = std::move(jobs_.front());
    jobs_.pop_front();
    ++running_;
    lock.unlock();
    job();
    lock.lock();
    --running_;
    changed_.notify_all();
  }
}

}  // namespace orrery::dispatch
