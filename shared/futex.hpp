// Sleeping on a word of shared memory (Linux futex, across processes).
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>

namespace orrery {

// Sleeps while `word` holds `seen`, at most `timeout`. Wakes spuriously; the caller checks its condition again.
inline void futex_wait(const std::atomic<uint32_t>& word, uint32_t seen, std::chrono::nanoseconds timeout) {
  const auto ns = timeout.count() < 0 ? 0 : timeout.count();
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

inline void futex_wake(const std::atomic<uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace orrery
