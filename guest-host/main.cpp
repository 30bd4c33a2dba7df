// orrery-guest: runs a title's CPU code, serves its imports, owns all memory.
#include <fmt/format.h>
#include <unistd.h>
#include <cstdio>

#include "guest-host/command_line.hpp"
#include "guest-host/replay_run.hpp"
#include "guest-host/title_run.hpp"
#include "shared/log.hpp"

int main(int argc, char** argv) {
  orrery::start_log("guest");
  const auto end_with = [](const orrery::Error& error) {
    fmt::print(stderr, "[guest] {}\n", error.describe());
    return static_cast<int>(error.code);
  };
  auto line = orrery::parse_command_line(argc, argv);
  if (!line) return end_with(line.error());
  if (!*line) return 0;
  auto code = (*line)->replay ? orrery::run_replay(**line) : orrery::run_title(**line);
  if (!code) return end_with(code.error());
  ::_exit(*code);
}
