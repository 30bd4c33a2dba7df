// The title's writes found by faults, where the kernel can't track them alone: armed pages are write-protected, the
// first write to one faults, and the handler notes it and lets the write through.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "protocol/page_states.hpp"
#include "shared/error.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::memory {

// Taken by signal handlers too; what it guards takes no other lock and touches no guest memory.
class SpinLock {
 public:
  void lock() noexcept;
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

class FaultWatch {
 public:
  static Result<FaultWatch> create();
  // One byte per host page (protocol/page_states.hpp), for the GPU service.
  const UniqueFd& states() const { return file_; }

  // Faults wait while it is held: a page's protection and its state change together.
  using Change = std::unique_lock<SpinLock>;
  Change changing() { return Change(*lock_); }

  // The list of windows changes; within a Change. `host_protection` is mmap(2)'s of the unarmed pages.
  void window_shown(uint64_t begin, uint64_t end, int host_protection);
  void window_gone(uint64_t begin, uint64_t end);
  // Pages of one window, while the list of windows does not change.
  void arm(uint64_t begin, uint64_t end);
  // A write faulted there. True: it was one of ours, and may be tried again. Async-signal-safe.
  bool on_write_fault(uint64_t address) noexcept;

 private:
  FaultWatch(UniqueFd file, Mapping states)
      : file_(std::move(file)), states_(std::move(states)), lock_(std::make_unique<SpinLock>()) {}
  uint8_t* state(uint64_t address) const { return reinterpret_cast<uint8_t*>(states_.data()) + address / 4096; }
  UniqueFd file_;
  Mapping states_;
  std::unique_ptr<SpinLock> lock_;
};

}  // namespace orrery::memory
