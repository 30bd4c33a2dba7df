// The guest thread's errno, for functions that answer -1.
#pragma once

#include "guest-host/hle/environment.hpp"

namespace orrery::hle {

// Sets the FreeBSD errno of the calling guest thread; nothing on a thread of the host.
void set_thread_errno(Environment& environment, int error);

}  // namespace orrery::hle
