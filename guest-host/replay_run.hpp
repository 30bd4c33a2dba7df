// One replay of a capture, from its file to its exit code.
#pragma once

#include "guest-host/command_line.hpp"

namespace orrery {

// 0: all results are the run's; 1: some differ. Errors are what kept it from running.
Result<int> run_replay(const CommandLine& line);

}  // namespace orrery
