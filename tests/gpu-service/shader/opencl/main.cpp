// Runs piglit's OpenCL program tests on the host interpreter or through the translator on the Vulkan device: one line
// per case that is not as its file expects, and the sums. `scripts/piglit` finds the files.
#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "shared/log.hpp"
#include "tests/gpu-service/shader/opencl/compiled_files.hpp"
#include "tests/gpu-service/shader/opencl/exceptions.hpp"
#include "tests/gpu-service/shader/opencl/runners.hpp"

namespace orrery::opencl {
namespace {

constexpr int kSkipped = 77;  // ctest's SKIP_RETURN_CODE

struct Options {
  std::vector<std::string> paths;
  std::vector<uint32_t> waves{32, 64};
  std::string on = "interpreter", only, exceptions, cache, skip_without;
  std::vector<std::string> tests;
  bool verbose = false;
  uint32_t every = 1, first = 0;
  double limit = 30;
  unsigned jobs = 2;
};

struct File {
  std::string path, name;
  TestFile content;
};

struct Object {
  size_t file;
  uint32_t wave;
  Compiled compiled;
};

struct Case {
  size_t object;
  const KernelTest* test;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> files_of(const Options& options) {
  std::vector<std::string> all, chosen;
  for (const auto& path : options.paths) {
    if (!std::filesystem::is_directory(path)) {
      all.emplace_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".cl") all.push_back(entry.path());
    }
  }
  std::sort(all.begin(), all.end());
  for (size_t i = options.first; i < all.size(); i += options.every) {
    if (all[i].find(options.only) != std::string::npos) chosen.push_back(all[i]);
  }
  return chosen;
}

class Suite {
 public:
  Suite(const Options& options, Exceptions exceptions) : options_(options), exceptions_(std::move(exceptions)) {}

  int run() {
    read_files();
    compile_files();
    run_cases();
    return sums();
  }

 private:
  void read_files() {
    for (const std::string& path : files_of(options_)) {
      ++files_found_;
      auto content = parse_program_test(read_file(path));
      const std::string name = std::filesystem::path(path).filename();
      if (!content) {
        except_build(name, "not read: " + content.error());
      } else {
        files_.push_back({path, name, std::move(*content)});
      }
    }
  }

  // A file that gives no code object: an exception or a failure.
  void except_build(const std::string& file, const std::string& why) {
    Exception* line = exceptions_.find(file, "*", "build");
    ++(line != nullptr ? files_excepted_ : files_failed_);
    if (line != nullptr) ++line->excepted;
    std::cout << (line != nullptr ? "EXCEPTED   " : "NO BUILD   ") << file << ": " << why << '\n';
  }

  void compile_files() {
    std::vector<CompileJob> jobs;
    for (size_t i = 0; i < files_.size(); ++i) {
      const File& file = files_[i];
      for (const uint32_t wave : options_.waves) {
        CompileJob& job = jobs.emplace_back(
            CompileJob{file.path, read_file(file.path), file.content.build_options, file.content.version, wave, {}});
        for (const KernelTest& test : file.content.tests) job.kernels.push_back(test.kernel);
        objects_.push_back({i, wave, {}});
      }
    }
    auto compiled = compile_all(jobs, options_.cache, options_.jobs);
    for (size_t i = 0; i < objects_.size(); ++i) {
      Object& object = objects_[i];
      const File& file = files_[object.file];
      object.compiled = std::move(compiled[i]);
      const bool first_wave = object.wave == options_.waves.front();
      if (file.content.expect_build_failure) {
        // What must not compile is passed when it doesn't; all others of this kind are the compiler's business.
        if (first_wave && object.compiled) except_build(file.name, "compiles although it must not");
        if (first_wave && !object.compiled) ++rejected_as_expected_;
        continue;
      }
      if (!object.compiled) {
        if (first_wave) except_build(file.name, object.compiled.error());
        cases_not_compiled_ += static_cast<uint32_t>(file.content.tests.size());
        continue;
      }
      if (file.content.tests.empty() && first_wave) ++built_only_;
      for (const KernelTest& test : file.content.tests) {
        if (!options_.tests.empty() && std::ranges::find(options_.tests, test.name) == options_.tests.end()) continue;
        cases_.push_back({i, &test});
      }
    }
  }

  void run_cases() {
    Work work;
    work.items = cases_.size();
    work.group = [this](size_t i) { return cases_[i].object; };
    work.same_program = [this](size_t a, size_t b) {
      return cases_[a].test->kernel == cases_[b].test->kernel && cases_[a].test->local == cases_[b].test->local &&
             cases_[a].test->global == cases_[b].test->global;
    };
    work.start = [this] {
      auto guest = std::make_shared<SmallGuest>();
      const Runner runner = options_.on == "device" ? device_runner(*guest) : interpreter_runner(*guest);
      return [this, guest, runner, known = SIZE_MAX, object = CodeObject{}](size_t i) mutable {
        const Case& one = cases_[i];
        if (known != one.object) {
          auto read = read_code_object(*objects_[one.object].compiled);
          if (!read) return Verdict{Outcome::not_launched, read.error()};
          object = std::move(*read);
          known = one.object;
        }
        return run_test(*guest, object, *one.test, runner);
      };
    };
    work.report = [this](size_t i, const Verdict& verdict) { report(cases_[i], verdict); };
    run_work(work, {options_.jobs, std::chrono::milliseconds(static_cast<int64_t>(options_.limit * 1000))});
  }

  void report(const Case& one, const Verdict& verdict) {
    const Object& object = objects_[one.object];
    const std::string& file = files_[object.file].name;
    const std::string name = fmt::format("{} w{} [{}]", file, object.wave, one.test->name);
    slowest_.emplace(verdict.seconds, name);
    if (slowest_.size() > 10) slowest_.erase(slowest_.begin());
    static constexpr const char* kNames[] = {"PASS", "WRONG", "REFUSED", "NOT RUN", "TOO SLOW", "CRASHED", "NO DEVICE"};
    if (verdict.outcome == Outcome::too_slow) {
      ++too_slow_;
      std::cout << fmt::format("TOO SLOW   {}: {}\n", name, verdict.text) << std::flush;
      return;
    }
    Exception* line = exceptions_.find(file, one.test->name, options_.on);
    const bool passed = verdict.outcome == Outcome::passed;
    if (line != nullptr) {
      ++(passed ? line->passed : line->excepted);
      if (!passed) {
        ++excepted_;
        if (options_.verbose) std::cout << fmt::format("EXCEPTED   {}: {} ({})\n", name, verdict.text, line->reason);
        return;
      }
    }
    ++(passed ? passed_ : failed_);
    if (!passed || options_.verbose) {
      std::cout << fmt::format("{:10} {}: {}\n", kNames[static_cast<size_t>(verdict.outcome)], name, verdict.text)
                << std::flush;
    }
    if (!passed) ++reasons_[kNames[static_cast<size_t>(verdict.outcome)] + (": " + verdict.text.substr(0, 160))];
  }

  int sums() {
    std::vector<std::pair<uint32_t, std::string>> reasons;
    for (const auto& [reason, count] : reasons_) {
      if (count > 1) reasons.emplace_back(count, reason);
    }
    std::ranges::sort(reasons, std::greater{});
    for (const auto& [count, reason] : reasons) std::cout << count << " x " << reason << '\n';
    if (options_.verbose) {
      for (const auto& [seconds, name] : slowest_) std::cout << fmt::format("{:8.2f} s  {}\n", seconds, name);
    }
    uint32_t stale = 0;
    for (const Exception& line : exceptions_.lines()) {
      // A pattern may cover cases that pass; one that covers nothing else is to be taken out.
      if (line.passed == 0 || line.excepted != 0) continue;
      ++stale;
      std::cout << fmt::format("PASSES     exceptions line {} ({} | {} | {}): {} cases pass, none fails\n", line.line,
                               line.file, line.test, line.on, line.passed);
    }
    std::cout << fmt::format(
        "{} files ({} without code objects are exceptions, {} must not compile and do not, {} have nothing to run); {} "
        "cases on the {}: {} passed, {} failed, {} excepted, {} too slow; {} files did not compile ({} cases)\n",
        files_found_, files_excepted_, rejected_as_expected_, built_only_, cases_.size(), options_.on, passed_, failed_,
        excepted_, too_slow_, files_failed_, cases_not_compiled_);
    return passed_ > 0 && failed_ == 0 && files_failed_ == 0 && stale == 0 ? 0 : 1;
  }

  const Options& options_;
  Exceptions exceptions_;
  std::vector<File> files_;
  std::vector<Object> objects_;
  std::vector<Case> cases_;
  std::map<std::string, uint32_t> reasons_;
  std::multimap<double, std::string> slowest_;
  uint32_t files_found_ = 0, files_excepted_ = 0, files_failed_ = 0, rejected_as_expected_ = 0, built_only_ = 0;
  uint32_t passed_ = 0, failed_ = 0, excepted_ = 0, too_slow_ = 0, cases_not_compiled_ = 0;
};

int run(int argc, char** argv) {
  CLI::App app("Runs OpenCL program tests (piglit's format) on the interpreter or through the translator on a device.");
  Options options;
  app.add_option("paths", options.paths, ".cl files or folders of them")->required();
  app.add_option("--on", options.on, "interpreter or device")->check(CLI::IsMember({"interpreter", "device"}));
  app.add_option("--wave", options.waves, "wave widths: 32, 64 or both")->check(CLI::IsMember({32u, 64u}));
  app.add_option("--only", options.only, "files whose path holds this text");
  app.add_option("--test", options.tests, "cases of this name");
  app.add_option("--every", options.every, "every n-th file only")->check(CLI::PositiveNumber);
  app.add_option("--first", options.first, "skip so many files first");
  app.add_option("--limit", options.limit, "seconds that a case may take");
  app.add_option("--jobs", options.jobs, "compilers and cases at a time")->check(CLI::PositiveNumber);
  app.add_option("--exceptions", options.exceptions, "the list of known exceptions");
  app.add_option("--cache", options.cache, "folder that keeps compiled files")->required();
  app.add_option("--skip-without", options.skip_without, "skip (77) when this folder is not there");
  app.add_flag("--verbose", options.verbose, "name passed and excepted cases and the slowest too");
  CLI11_PARSE(app, argc, argv);
  start_log("opencl-tests");
  if (!options.skip_without.empty() && !std::filesystem::exists(options.skip_without)) {
    std::cout << "skipped: Debian's package piglit was not fetched (" << options.skip_without << " is absent)\n";
    return kSkipped;
  }
  Exceptions exceptions;
  if (!options.exceptions.empty()) {
    auto read = Exceptions::read(options.exceptions);
    if (!read) {
      std::cerr << read.error() << '\n';
      return 64;
    }
    exceptions = std::move(*read);
  }
  return Suite(options, std::move(exceptions)).run();
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
