// orrery-guest's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guest-host/cpu/fs_policy.hpp"
#include "shared/error.hpp"

namespace orrery {

struct CommandLine {
  std::string title;
  std::vector<std::string> arguments;
  int launcher_fd = -1;  // -1: no GPU service
  std::optional<cpu::FsPolicy> fs_policy;
  bool logical_clock = false;
  std::string tracker = "auto";  // how the GPU service learns of the title's writes: auto, uffd, mprotect or hash
  bool strict_imports = false;
  uint64_t arena_size = 16ull << 30;
  bool headless = false;
  std::string keep_frames_directory;
  uint32_t keep_every = 1;
  uint64_t frames = 0;       // 0: no limit
  std::string report;        // file for what the run did and how long it took; empty: none
  uint32_t hang_limit = 10;  // seconds
  bool spans = false;        // a table of them at the end
  std::string trace_file;
  std::string capture;  // FILE or FILE:FROM-TO; takes the logical clock with it
  // In place of a title: a capture to run again.
  bool replay = false;
  uint64_t replay_steps = 0;           // 0: all
  std::optional<uint32_t> replay_cut;  // dwords of the last step's last command buffer
  std::string replay_report;           // file for the result of each step, as JSON
};

// Nothing when help was asked for and shown. Error: usage.
Result<std::optional<CommandLine>> parse_command_line(int argc, char** argv);

}  // namespace orrery
