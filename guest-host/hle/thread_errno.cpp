#include "guest-host/hle/thread_errno.hpp"

#include "guest-host/cpu/guest_thread.hpp"

namespace orrery::hle {

void set_thread_errno(Environment& environment, int error) {
  cpu::GuestThread* thread = cpu::GuestThread::current();
  // The address is the thread's own block: the write can only fail when the title unmapped it.
  if (thread != nullptr) (void)environment.memory.write_value<int32_t>(thread->error_address(), error);
}

}  // namespace orrery::hle
