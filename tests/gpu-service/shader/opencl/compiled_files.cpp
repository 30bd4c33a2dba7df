#include "tests/gpu-service/shader/opencl/compiled_files.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "shared/content_hash.hpp"

namespace orrery::opencl {
namespace {

constexpr const char* kLibrary = "/usr/lib/clc/amdgcn--amdhsa.bc";

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string quoted(const std::string& word) { return "'" + word + "'"; }

// Compiler and library of this machine, so that another version makes its own files.
std::string tool_stamp() {
  std::string stamp;
  for (const char* file : {"/usr/bin/clang-19", "/usr/bin/ld.lld-19", kLibrary}) {
    std::error_code none;
    stamp += fmt::format("{} {}\n", file, std::filesystem::last_write_time(file, none).time_since_epoch().count());
  }
  return stamp;
}

bool calls_functions(const CompileJob& job) { return job.source.find("noinline") != std::string::npos; }

// All but the places of files.
std::string arguments_of(const CompileJob& job) {
  const std::string arguments = fmt::format(
      "-x cl -cl-std={} -Xclang -finclude-default-header -Xclang -fdeclare-opencl-builtins -target amdgcn-amd-amdhsa "
      "-mcpu=gfx1013 {} -nogpulib -O2 -Xclang -mlink-builtin-bitcode -Xclang {} {} {}",
      job.version >= 20 ? "CL2.0" : "CL1.2", job.wave == 64 ? "-mwavefrontsize64" : "", kLibrary,
      // A file that wants warnings to be errors gets them.
      job.options.find("-Werror") == std::string::npos ? "-w" : "-Wno-linker-warnings", job.options);
  return calls_functions(job) ? arguments + " -ffunction-sections" : arguments;
}

Compiled compile(const CompileJob& job, const std::string& folder, const std::string& stamp) {
  const std::string arguments = arguments_of(job);
  const std::string content = stamp + arguments + '\n' + job.source;
  const std::string base = folder + '/' + hash_bytes(std::as_bytes(std::span(content))).hex();
  if (std::filesystem::exists(base + ".co")) return base + ".co";
  if (std::filesystem::exists(base + ".error")) return std::unexpected(read_file(base + ".error"));
  const std::string fresh = fmt::format("{}.{}", base, getpid());
  std::string order;
  if (calls_functions(job)) {
    std::ofstream list(fresh + ".order");
    for (const std::string& kernel : job.kernels) list << kernel << '\n';
    order = fmt::format("--symbol-ordering-file={}.order --no-warn-symbol-ordering", fresh);
  }
  const std::string command =
      fmt::format("clang-19 {} -I {} -c {} -o {}.o 2>{}.log </dev/null && ld.lld-19 -shared {} {}.o -o {}.co 2>>{}.log",
                  arguments, quoted(std::filesystem::path(job.source_file).parent_path().string()),
                  quoted(job.source_file), fresh, fresh, order, fresh, fresh, fresh);
  const int status = std::system(command.c_str());
  std::string log = read_file(fresh + ".log");
  for (const char* left : {".o", ".log", ".order"}) std::filesystem::remove(fresh + left);
  if (status == 0) {
    std::filesystem::rename(fresh + ".co", base + ".co");
    return base + ".co";
  }
  if (const size_t error = log.find("error:"); error != std::string::npos) {
    // Only what the compiler said is kept; a compiler that could not run is tried again.
    log.erase(0, error);
    log.resize(std::min(log.find('\n'), log.size()));
    std::ofstream(fresh + ".error") << log;
    std::filesystem::rename(fresh + ".error", base + ".error");
    return std::unexpected(log);
  }
  return std::unexpected("the compiler could not run: " + log.substr(0, 200));
}

}  // namespace

std::vector<Compiled> compile_all(std::span<const CompileJob> jobs, const std::string& folder, unsigned at_once) {
  std::filesystem::create_directories(folder);
  const std::string stamp = tool_stamp();
  std::vector<Compiled> results(jobs.size());
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < at_once; ++i) {
    threads.emplace_back([&] {
      for (size_t n = next++; n < jobs.size(); n = next++) results[n] = compile(jobs[n], folder, stamp);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace orrery::opencl
