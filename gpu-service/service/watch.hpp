// A thread that notices what must end this process even while a driver call blocks: the guest process's death and
// SIGTERM.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "shared/error.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::service {

class Watch {
 public:
  // SIGTERM must be blocked in every thread (block_signals). `socket` is the control socket; it must outlive the watch.
  static Result<std::unique_ptr<Watch>> start(int socket);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  bool guest_gone() const { return guest_gone_.load(std::memory_order_acquire); }
  bool asked_to_end() const { return asked_to_end_.load(std::memory_order_acquire); }

 private:
  Watch() = default;
  void watch(int socket);

  std::atomic<bool> guest_gone_{false}, asked_to_end_{false};
  UniqueFd stop_, signals_;
  std::thread thread_;
};

// Called first thing in main: SIGTERM is taken by the watch, SIGINT is the launcher's matter, SIGPIPE is an error code.
void block_signals();

}  // namespace orrery::service
