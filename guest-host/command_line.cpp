#include "guest-host/command_line.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

namespace orrery {

namespace {

// Words up to and with the title.
int own_words(const CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.empty() || word[0] != '-') return i + 1;
    const size_t equals = word.find('=');
    const auto* const option = app.get_option_no_throw(word.substr(0, equals));
    if (option != nullptr && option->get_items_expected_min() > 0 && equals == word.npos) ++i;
  }
  return argc;
}

}  // namespace

Result<std::optional<CommandLine>> parse_command_line(int argc, char** argv) {
  CommandLine line;
  std::string policy;
  CLI::App app{"Runs a title's CPU code and owns its memory. Usually started by orrery, with a GPU service beside it."};
  app.name("orrery-guest");
  app.add_option("--launcher-fd", line.launcher_fd, "socket of the launcher; without it there is no GPU");
  app.add_option("--fs-policy", policy, "thread pointer: fsgsbase, patch or arch-prctl (default: the best that works)");
  app.add_option("--tracker", line.tracker,
                 "how the GPU service learns of the title's writes: auto, uffd, mprotect or hash")
      ->check(CLI::IsMember({"auto", "uffd", "mprotect", "hash"}));
  app.add_flag("--logical-clock", line.logical_clock, "guest time depends on completed flips only");
  app.add_flag("--strict-imports", line.strict_imports, "end the run when an import is called that is not implemented");
  app.add_option("--arena-size", line.arena_size, "bytes of guest memory, with suffix (default 16GiB)")
      ->transform(CLI::AsSizeValue(false));
  app.add_flag("--headless", line.headless, "no window");
  app.add_option("--keep-frames", line.keep_frames_directory, "folder for PNG files of frames");
  app.add_option("--every", line.keep_every, "keep every n-th frame")->check(CLI::PositiveNumber);
  app.add_option("--frames", line.frames, "end the run after so many frames");
  app.add_option("--report", line.report, "file for counters and times of the run, as JSON");
  app.add_option("--hang-limit", line.hang_limit, "seconds after which a dispatch of the GPU service is a hang")
      ->check(CLI::Range(1u, 86400u));
  app.add_flag("--spans", line.spans, "at the end, say what the time went into");
  app.add_option("--trace", line.trace_file, "write a Chrome/Perfetto trace of the run");
  app.add_option("--capture", line.capture, "write what the GPU service is given into FILE or FILE:FROM-TO (flips)");
  app.add_flag("--replay", line.replay,
               "TITLE is a capture: give the GPU service what it holds and compare the results");
  app.add_option("--steps", line.replay_steps, "replay so many steps only");
  app.add_option("--cut", line.replay_cut, "of the last step's last command buffer, replay so many dwords only");
  app.add_option("--results", line.replay_report, "file for the result of each step of a replay, as JSON");
  app.add_option("TITLE", line.title, "a title's eboot.bin, or its folder")->required();
  app.footer("Everything behind TITLE belongs to the title.");
  const int mine = own_words(app, argc, argv);
  try {
    app.parse(mine, argv);
  } catch (const CLI::CallForHelp& help) {
    std::cout << app.help();
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return fail(ExitCode::usage, "{} (orrery-guest --help shows the options)", error.what());
  }
  line.arguments.assign(argv + mine, argv + argc);
  line.logical_clock = line.logical_clock || !line.capture.empty();
  if (!policy.empty()) {
    line.fs_policy = cpu::parse_fs_policy(policy);
    if (!line.fs_policy) {
      return fail(ExitCode::usage, "--fs-policy={}: must be fsgsbase, patch or arch-prctl", policy);
    }
  }
  return line;
}

}  // namespace orrery
