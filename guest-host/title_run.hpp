// One run of one title, from its file to its exit code.
#pragma once

#include "guest-host/command_line.hpp"

namespace orrery {

// The process's exit code: the title's own (0..63), or one of ExitCode. Threads of the title may still run afterwards,
// so the caller ends the process at once. Errors are what kept the title from starting.
Result<int> run_title(const CommandLine& line);

}  // namespace orrery
