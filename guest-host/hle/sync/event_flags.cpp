#include "guest-host/hle/sync/event_flags.hpp"

#include "guest-host/hle/registry.hpp"

namespace orrery::hle::sync {
namespace {

constexpr int kEcanceled = 85;  // FreeBSD

bool good(uint64_t bits, uint32_t mode) {
  const uint32_t how = mode & 0xf, clears = mode & ~0xfu;
  return bits != 0 && (how == EventFlags::kAll || how == EventFlags::kAny) &&
         (clears == 0 || clears == EventFlags::kClearAll || clears == EventFlags::kClearBits);
}

bool satisfied(uint64_t now, uint64_t bits, uint32_t mode) {
  return (mode & 0xf) == EventFlags::kAll ? (now & bits) == bits : (now & bits) != 0;
}

uint64_t after(uint64_t now, uint64_t bits, uint32_t mode) {
  if ((mode & EventFlags::kClearAll) != 0) return 0;
  return (mode & EventFlags::kClearBits) != 0 ? now & ~bits : now;
}

}  // namespace

std::shared_ptr<EventFlags::Flag> EventFlags::find(uint64_t handle) const {
  const auto found = flags_.find(handle);
  return found == flags_.end() ? nullptr : found->second;
}

uint64_t EventFlags::create(uint32_t attributes, uint64_t initial) {
  constexpr uint32_t kWaiters = kSingle | kMulti, kOrder = 3;
  if ((attributes & ~(kWaiters | kOrder)) != 0 || (attributes & kWaiters) == kWaiters) return 0;
  const std::lock_guard lock(mutex_);
  auto flag = std::make_shared<Flag>();
  flag->single = (attributes & kSingle) != 0;
  flag->bits = initial;
  flags_.emplace(next_, std::move(flag));
  return next_++;
}

int EventFlags::destroy(uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto flag = find(handle);
  if (!flag) return kEsrch;
  flag->destroyed = true;
  flag->changed.notify_all();
  flags_.erase(handle);
  return 0;
}

int EventFlags::set(uint64_t handle, uint64_t bits) {
  const std::lock_guard lock(mutex_);
  const auto flag = find(handle);
  if (!flag) return kEsrch;
  flag->bits |= bits;
  flag->changed.notify_all();
  return 0;
}

int EventFlags::clear(uint64_t handle, uint64_t keep) {
  const std::lock_guard lock(mutex_);
  const auto flag = find(handle);
  if (!flag) return kEsrch;
  flag->bits &= keep;
  return 0;
}

int EventFlags::poll(uint64_t handle, uint64_t bits, uint32_t mode, uint64_t& seen) {
  const std::lock_guard lock(mutex_);
  const auto flag = find(handle);
  if (!flag) return kEsrch;
  if (!good(bits, mode)) return kEinval;
  seen = flag->bits;
  if (!satisfied(flag->bits, bits, mode)) return kEbusy;
  flag->bits = after(flag->bits, bits, mode);
  return 0;
}

int EventFlags::wait(uint64_t handle, uint64_t bits, uint32_t mode, uint64_t& seen, const clock::Deadline& deadline) {
  std::unique_lock lock(mutex_);
  const auto flag = find(handle);
  if (!flag) return kEsrch;
  if (!good(bits, mode)) return kEinval;
  if (flag->single && flag->waiters != 0) return kEperm;
  const uint64_t cancels = flag->cancels;
  ++flag->waiters;
  int error = 0;
  clock::Waiting waiting(deadline);
  for (;;) {
    // A cancelled wait is over although the new bits might satisfy it.
    if (flag->cancels != cancels) error = kEcanceled;
    if (flag->destroyed) error = kEacces;
    if (error != 0 || satisfied(flag->bits, bits, mode)) break;
    if (waiting.over()) {
      error = kEtimedout;
      break;
    }
    waiting.sleep(flag->changed, lock);
  }
  --flag->waiters;
  seen = flag->bits;
  if (error == 0) flag->bits = after(flag->bits, bits, mode);
  return error;
}

int EventFlags::cancel(uint64_t handle, uint64_t bits, uint32_t& waiters) {
  const std::lock_guard lock(mutex_);
  const auto flag = find(handle);
  if (!flag) return kEsrch;
  waiters = flag->waiters;
  flag->bits = bits;
  ++flag->cancels;
  flag->changed.notify_all();
  return 0;
}

}  // namespace orrery::hle::sync
