// Runs piglit's OpenCL program tests through the translator on the Vulkan device: one line per case that is not as its
// file expects, and the sums. `scripts/piglit` finds the files.
#include <unistd.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "shared/log.hpp"
#include "tests/gpu-service/shader/opencl/launch.hpp"

namespace orrery::opencl {
namespace {

struct Sums {
  uint32_t files = 0, passed = 0, wrong = 0, refused = 0, not_launched = 0, not_compiled = 0, not_read = 0;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Suite {
 public:
  Suite(SmallGuest& guest, dispatch::DispatchExecutor& executor, std::vector<uint32_t> waves, bool verbose)
      : guest_(guest), executor_(executor), waves_(std::move(waves)), verbose_(verbose) {
    folder_ = std::filesystem::temp_directory_path() / ("orrery-opencl-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~Suite() {
    std::error_code none;
    std::filesystem::remove_all(folder_, none);
  }

  // False: the device is lost.
  bool run(const std::filesystem::path& path) {
    const std::string text = read_file(path);
    const auto file = parse_program_test(text);
    ++sums.files;
    if (!file) {
      ++sums.not_read;
      std::cout << "NOT READ   " << path.filename().string() << ": " << file.error() << '\n';
      return true;
    }
    if (file->expect_build_failure || file->tests.empty()) return true;
    for (const uint32_t wave : waves_) {
      const auto object = compile(path.string(), folder_.string(), wave, file->build_options, file->version);
      if (!object) {
        ++sums.not_compiled;
        std::cout << "NO BUILD   " << path.filename().string() << " w" << wave << ": " << object.error() << '\n';
        continue;
      }
      for (const KernelTest& test : file->tests) {
        const auto wrong =
            run_test(guest_, *object, test, [this](const dispatch::DispatchState& state) { return dispatch(state); });
        const std::string name = path.filename().string() + " w" + std::to_string(wave) + " [" + test.name + "]";
        if (lost_) {
          std::cout << "LOST       " << name << ": the device is lost\n";
          return false;
        }
        if (!wrong) {
          ++sums.passed;
          if (verbose_) std::cout << "PASS       " << name << '\n';
        } else if (wrong->starts_with("refused")) {
          ++sums.refused;
          ++reasons[wrong->substr(0, 200)];
          std::cout << "REFUSED    " << name << ": " << *wrong << '\n';
        } else if (wrong->starts_with("not launched")) {
          ++sums.not_launched;
          std::cout << "NOT RUN    " << name << ": " << *wrong << '\n';
        } else {
          ++sums.wrong;
          std::cout << "WRONG      " << name << ": " << *wrong << '\n';
        }
      }
    }
    std::cout.flush();
    return true;
  }

  Sums sums;
  std::map<std::string, uint32_t> reasons;

 private:
  std::vector<std::string> dispatch(const dispatch::DispatchState& state) {
    std::vector<std::string> texts;
    if (auto acquired = executor_.acquire(); !acquired) texts.push_back(acquired.error().describe());
    for (const auto& refusal : executor_.dispatch(state)) texts.push_back(refusal.kind + ": " + refusal.text);
    auto finished = executor_.finish();
    if (!finished) {
      lost_ = true;
      texts.push_back(finished.error().describe());
    } else {
      for (const auto& refusal : *finished) texts.push_back(refusal.kind + ": " + refusal.text);
    }
    return texts;
  }

  SmallGuest& guest_;
  dispatch::DispatchExecutor& executor_;
  std::vector<uint32_t> waves_;
  bool verbose_;
  bool lost_ = false;
  std::filesystem::path folder_;
};

int run(int argc, char** argv) {
  CLI::App app("Runs OpenCL program tests (piglit's format) through the translator on a Vulkan device.");
  std::vector<std::string> paths;
  std::vector<uint32_t> waves{32, 64};
  std::string only;
  bool verbose = false;
  uint32_t every = 1, first = 0;
  app.add_option("paths", paths, ".cl files or folders of them")->required();
  app.add_option("--wave", waves, "wave widths: 32, 64 or both")->check(CLI::IsMember({32u, 64u}));
  app.add_option("--only", only, "files whose path holds this text");
  app.add_option("--every", every, "every n-th file only")->check(CLI::PositiveNumber);
  app.add_option("--first", first, "skip so many files first");
  app.add_flag("--verbose", verbose, "name passed cases too");
  CLI11_PARSE(app, argc, argv);
  start_log("opencl-tests");

  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".cl") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  auto device = vulkan::Device::open({});
  if (!device) {
    std::cerr << device.error().describe() << '\n';
    return static_cast<int>(device.error().code);
  }
  SmallGuest guest;
  auto executor = dispatch::DispatchExecutor::create(**device, guest.memory());
  if (!executor) {
    std::cerr << executor.error().describe() << '\n';
    return static_cast<int>(executor.error().code);
  }
  Suite suite(guest, **executor, waves, verbose);
  bool lost = false;
  for (size_t i = first; i < files.size() && !lost; i += every) {
    if (!only.empty() && files[i].string().find(only) == std::string::npos) continue;
    lost = !suite.run(files[i]);
  }
  for (const auto& [reason, count] : suite.reasons) std::cout << count << " x " << reason << '\n';
  const Sums& s = suite.sums;
  std::cout << s.files << " files: " << s.passed << " passed, " << s.wrong << " wrong, " << s.refused << " refused, "
            << s.not_launched << " not launched; " << s.not_compiled << " builds failed, " << s.not_read
            << " not read\n";
  return s.files > 0 && s.passed > 0 && s.wrong == 0 && s.refused == 0 && !lost ? 0 : 1;
}

}  // namespace
}  // namespace orrery::opencl

int main(int argc, char** argv) {
  try {
    return orrery::opencl::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 73;
  }
}
