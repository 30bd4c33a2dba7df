// Start of the `hello` title to its exit, launcher and both processes included, against starting Python and nothing
// else (the launcher's own floor).
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

extern char** environ;

namespace {

int run(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  if (failed != 0 || ::waitpid(child, &status, 0) < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The launcher lies beside the programs' folder in a bundle, in scripts/ in a checkout.
std::string launcher() {
  const auto build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  if (std::filesystem::exists(build / "orrery")) return (build / "orrery").string();
  ::setenv("ORRERY_BUILD", build.c_str(), 1);
  for (auto folder = build; folder.has_relative_path(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / "scripts" / "orrery")) return (folder / "scripts" / "orrery").string();
  }
  return "orrery";
}

void time_command(benchmark::State& state, const std::vector<std::string>& command) {
  for (auto _ : state) {
    const int code = run(command);
    if (code != 0) {
      state.SkipWithError(("ended with " + std::to_string(code)).c_str());
      return;
    }
  }
}

void hello_to_exit(benchmark::State& state) { time_command(state, {launcher(), "run", "--headless", "hello"}); }
BENCHMARK(hello_to_exit)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(5);

void baseline_python_start(benchmark::State& state) {
  time_command(state, {"python3", "-c", "import selectors, subprocess"});
}
BENCHMARK(baseline_python_start)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(5);

}  // namespace
