// What the service gives up before it reads anything that a title made: writing files but where it has to, starting
// programs, looking into other processes, talking to networks. A title that takes it over gets no further.
#pragma once

#include <string>

namespace orrery::service {

// For this thread and those that it starts later; lasts until the process ends. `frames`: where frames are kept, may be
// empty. Answers what is in force, for the log; what the kernel does not offer is left out.
std::string enter_sandbox(const std::string& frames);

}  // namespace orrery::service
