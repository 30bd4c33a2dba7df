#include "guest-host/hle/sync/semaphores.hpp"

#include "guest-host/hle/registry.hpp"

namespace orrery::hle::sync {
namespace {

constexpr int kEcanceled = 85;  // FreeBSD

}  // namespace

std::shared_ptr<Semaphores::Semaphore> Semaphores::find(uint64_t handle) const {
  const auto found = semaphores_.find(handle);
  return found == semaphores_.end() ? nullptr : found->second;
}

uint64_t Semaphores::create(int32_t initial, int32_t most) {
  if (initial < 0 || most < 1 || initial > most) return 0;
  const std::lock_guard lock(mutex_);
  auto semaphore = std::make_shared<Semaphore>();
  semaphore->initial = initial;
  semaphore->most = most;
  semaphore->count = initial;
  semaphores_.emplace(next_, std::move(semaphore));
  return next_++;
}

int Semaphores::destroy(uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto semaphore = find(handle);
  if (!semaphore) return kEsrch;
  semaphore->destroyed = true;
  semaphore->changed.notify_all();
  semaphores_.erase(handle);
  return 0;
}

int Semaphores::signal(uint64_t handle, int32_t count) {
  const std::lock_guard lock(mutex_);
  const auto semaphore = find(handle);
  if (!semaphore) return kEsrch;
  if (count < 1 || count > semaphore->most - semaphore->count) return kEinval;
  semaphore->count += count;
  semaphore->changed.notify_all();
  return 0;
}

int Semaphores::poll(uint64_t handle, int32_t need) {
  const std::lock_guard lock(mutex_);
  const auto semaphore = find(handle);
  if (!semaphore) return kEsrch;
  if (need < 1 || need > semaphore->most) return kEinval;
  if (semaphore->count < need) return kEbusy;
  semaphore->count -= need;
  return 0;
}

int Semaphores::wait(uint64_t handle, int32_t need, const clock::Deadline& deadline) {
  std::unique_lock lock(mutex_);
  const auto semaphore = find(handle);
  if (!semaphore) return kEsrch;
  if (need < 1 || need > semaphore->most) return kEinval;
  const uint64_t cancels = semaphore->cancels;
  ++semaphore->waiters;
  int error = 0;
  clock::Waiting waiting(deadline);
  while (semaphore->count < need) {
    if (semaphore->destroyed) error = kEacces;
    if (semaphore->cancels != cancels) error = kEcanceled;
    if (error == 0 && waiting.over()) error = kEtimedout;
    if (error != 0) break;
    waiting.sleep(semaphore->changed, lock);
  }
  --semaphore->waiters;
  if (error == 0) semaphore->count -= need;
  return error;
}

int Semaphores::cancel(uint64_t handle, int32_t count, uint32_t& waiters) {
  const std::lock_guard lock(mutex_);
  const auto semaphore = find(handle);
  if (!semaphore) return kEsrch;
  if (count > semaphore->most) return kEinval;
  waiters = semaphore->waiters;
  semaphore->count = count < 0 ? semaphore->initial : count;
  ++semaphore->cancels;
  semaphore->changed.notify_all();
  return 0;
}

}  // namespace orrery::hle::sync
