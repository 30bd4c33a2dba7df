// The one piece of global state: the process's logger. Lines carry the process's name (guest, gpu).
#pragma once

#include <spdlog/spdlog.h>
#include <string>

namespace orrery {

// Starts logging to stderr as `process`; the level comes from ORRERY_LOG (trace, debug, info, warn, error; default
// warn).
void start_log(const std::string& process);

namespace log = spdlog;

}  // namespace orrery
