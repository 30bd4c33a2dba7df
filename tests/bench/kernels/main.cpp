// bench_kernels: device time of every kernel of the title `kernels` as the translator makes it, against the same kernel
// written in GLSL by hand, on the same memory, in turn, between Vulkan timestamps.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "shared/log.hpp"
#include "tests/bench/kernels/report.hpp"

namespace orrery::bench {
namespace {

int run(int argc, char** argv) {
  CLI::App app("Device time of the kernels against their twins in GLSL.");
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  MeasureOptions options;
  options.corpus = folder / "shader-corpus";
  options.twins = folder / "kernel-twins";
  std::vector<std::string> only;
  std::string size = "huge", memory = "device", wave = "both", json;
  vulkan::DeviceOptions device_options;
  app.add_option("--only", only, "kernels by name");
  app.add_option("--size", size)->check(CLI::IsMember({"small", "normal", "large", "huge"}))->capture_default_str();
  app.add_option("--memory", memory, "where the kernels' data lies")
      ->check(CLI::IsMember({"device", "imported", "both"}))
      ->capture_default_str();
  app.add_option("--wave", wave)->check(CLI::IsMember({"32", "64", "both"}))->capture_default_str();
  app.add_flag("--whole-wave", options.whole_wave, "also in the layout that runs a whole wave in one invocation");
  app.add_option("--workgroup-memory", options.workgroup_memory,
                 "take the device to have so many bytes; LDS beyond them lies in device memory");
  app.add_option("--samples", options.samples, "timed samples of each")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--least-ms", options.least_ms, "a sample repeats its dispatch until it is this long")
      ->capture_default_str();
  app.add_option("--warm-ms", options.warm_ms, "untimed runs in front, for the clocks of a device that was idle")
      ->capture_default_str();
  app.add_option("--corpus", options.corpus)->capture_default_str();
  app.add_option("--twins", options.twins)->capture_default_str();
  app.add_option("--json", json, "file for everything that was measured");
  app.add_option("--gpu", device_options.choice.index, "the device's number");
  app.add_flag("--cpu", device_options.choice.cpu, "the software device");
  bool only_gpu = false;
  app.add_flag("--only-gpu", only_gpu, "nothing, when the device is a CPU");
  CLI11_PARSE(app, argc, argv);
  options.size = size == "small"    ? CaseSize::small
                 : size == "normal" ? CaseSize::normal
                 : size == "large"  ? CaseSize::large
                                    : CaseSize::huge;
  // Compile times are of real compilations.
  setenv("__GL_SHADER_DISK_CACHE", "0", 1);
  setenv("MESA_SHADER_CACHE_DISABLE", "1", 1);
  device_options.cache_directory = "";
  start_log("bench");
  const auto failed = [](const Error& error) {
    std::cerr << "bench_kernels: " << error.describe() << '\n';
    return static_cast<int>(error.code);
  };
  const auto device = vulkan::Device::open(device_options);
  if (!device) return failed(device.error());
  if (only_gpu && (*device)->facts().type == vulkan::DeviceType::cpu) {
    std::cout << "bench_kernels: " << (*device)->facts().name << " is no GPU; nothing is measured\n";
    return 0;
  }
  const auto commands = Commands::create(**device);
  if (!commands) return failed(commands.error());
  std::vector<Measured> all;
  const auto selected = [&](const KernelCase& k) {
    return only.empty() || std::ranges::find(only, k.name) != only.end();
  };
  size_t total = static_cast<size_t>(std::ranges::count_if(kernel_cases(), selected));
  if (total == 0) {
    std::cerr << "bench_kernels: no kernel has that name\n";
    return static_cast<int>(ExitCode::usage);
  }
  total *= (wave == "both" ? 2 : 1) * (memory == "both" ? 2u : 1u);
  size_t done = 0;
  std::cout << (*device)->facts().name << ", " << (*device)->facts().driver << '\n' << table_head() << std::flush;
  for (const MemoryPlace place : {MemoryPlace::device, MemoryPlace::imported}) {
    if (memory != "both" && memory != name_of(place)) continue;
    options.place = place;
    for (const KernelCase& kernel : kernel_cases()) {
      if (!selected(kernel)) continue;
      for (const uint32_t lanes : {32u, 64u}) {
        if (wave != "both" && wave != std::to_string(lanes)) continue;
        fmt::print(stderr, "[{}/{}] {} wave{} {}\n", ++done, total, kernel.name, lanes, name_of(place));
        auto measured = measure(**device, **commands, kernel, lanes, options);
        if (!measured) {
          if (measured.error().code == ExitCode::device_lost) return failed(measured.error());
          std::cout << fmt::format("{:<17}{:>5} {}\n", kernel.name, lanes, measured.error().describe()) << std::flush;
          continue;
        }
        std::cout << table_line(*measured) << std::flush;
        all.push_back(std::move(*measured));
        if (!json.empty()) std::ofstream(json) << json_text((*device)->facts(), all);
      }
    }
  }
  std::cout << summary(all);
  return 0;
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) {
  try {
    return orrery::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "bench_kernels: " << error.what() << '\n';
    return static_cast<int>(orrery::ExitCode::internal);
  }
}
