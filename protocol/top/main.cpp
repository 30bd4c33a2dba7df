// orrery-top: shows a running title's spans and counters from outside.
#include <fmt/format.h>
#include <unistd.h>
#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <thread>

#include "protocol/top/screen.hpp"

namespace {

using namespace orrery;
using namespace orrery::protocol;
using namespace std::chrono_literals;

struct Options {
  int pid = 0;
  double every = 1;
  bool once = false, json = false;
};

constexpr auto kFirstLook = 200ms;
constexpr std::string_view kHome = "\x1b[H\x1b[2J";

Result<int> choose_title() {
  const std::vector<int> titles = running_titles();
  if (titles.empty()) return fail(ExitCode::file_missing, "no title is running");
  if (titles.size() == 1) return titles.front();
  return fail(ExitCode::usage, "several titles are running: choose one with --pid ({})", fmt::join(titles, ", "));
}

Result<void> show(const Options& options) {
  const auto pid = options.pid != 0 ? Result<int>(options.pid) : choose_title();
  if (!pid) return std::unexpected(pid.error());
  auto view = OutsideView::open(*pid);
  if (!view) return std::unexpected(std::move(view.error()));
  std::optional<Look> before = look_at(*view);
  std::this_thread::sleep_for(kFirstLook);
  const auto every = std::chrono::duration<double>(std::max(options.every, 0.1));
  while (view->alive()) {
    std::optional<Look> now = look_at(*view);
    if (!before || !now) return fail(ExitCode::protocol_mismatch, "process {} has no measurements", *pid);
    const Shown shown{*pid, view->title(), std::move(*before), *now};
    std::string text = options.json ? json_of(shown) : screen_of(shown);
    if (options.json) text += '\n';
    if (!options.once && !options.json && ::isatty(STDOUT_FILENO) != 0) text.insert(0, kHome);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) return {};
    if (options.once) return {};
    before = std::move(now);
    std::this_thread::sleep_for(every);
  }
  fmt::print(stderr, "[orrery] the title has ended\n");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Shows what a running title spends its time on, from outside: it also works while the title is stuck."};
  app.name("orrery top");
  app.add_option("--pid", options.pid, "the title's process (orrery-guest); default: the one that runs");
  app.add_option("--every", options.every, "seconds between two screens (default 1)")->check(CLI::Range(0.1, 3600.0));
  app.add_flag("--once", options.once, "one look, then end");
  app.add_flag("--json", options.json, "for programs: one line of JSON per look");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return 0;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "[orrery] {} (orrery top --help shows the options)\n", error.what());
    return static_cast<int>(ExitCode::usage);
  }
  const auto shown = show(options);
  if (shown) return 0;
  fmt::print(stderr, "[orrery] {}\n", shown.error().describe());
  return static_cast<int>(shown.error().code);
}
