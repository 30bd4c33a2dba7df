// Random programs by hand, for as long as wanted, on any device; see the folder's README.
#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tests/gpu-service/shader/differential/assembly.hpp"
#include "tests/gpu-service/shader/differential/shrink.hpp"

namespace orrery::shader::differential {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string device, save, load, family, layout;
  uint32_t whole_wave = 0, subgroup = 0, first_seed = 1, seeds = 0, most_failures = 5;
  double minutes = 0;
  bool validation = false, unbound = false, lds_in_memory = false, as_gpu = false, list = false, no_shrink = false;
};

std::vector<AssembledProgram> made(const Options& options, uint32_t seed, uint32_t count) {
  std::vector<ProgramText> texts;
  for (uint32_t n = seed; n < seed + count; ++n) {
    for (const Family family : kFamilies) {
      if (options.family.empty() || options.family == name_of(family)) texts.push_back(random_program(family, n));
    }
  }
  if (options.list) {
    for (const ProgramText& text : texts) {
      for (const Line& line : text.lines) std::printf("%3u  %s\n", line.unit, line.text.c_str());
    }
  }
  std::vector<AssembledProgram> programs = assemble(texts);
  for (size_t n = 0; n < programs.size(); ++n) programs[n].memory_seed = seed + static_cast<uint32_t>(n);
  return programs;
}

class Session {
 public:
  Session(const Options& options, const vulkan::Device& device)
      : options_(options),
        machine_(device, {options.subgroup, options.layout, options.whole_wave, options.unbound, options.lds_in_memory,
                          options.as_gpu}) {}

  // False: enough failures.
  bool run(const AssembledProgram& program) {
    std::optional<Failure> failure;
    const auto began = Clock::now();
    try {
      failure = machine_.difference(program);
    } catch (const std::exception& e) {
      failure = Failure{.step = Step::run, .reason = e.what()};
    }
    ++programs_;
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    if (seconds > 20) std::printf("%s took %.0f s\n", program.name.c_str(), seconds);
    if (Clock::now() - said_ > std::chrono::seconds(20)) progress();
    if (!failure) return true;
    ++failures_;
    std::printf("FAILED %s: %s\n", program.name.c_str(), failure->text().c_str());
    if (!options_.no_shrink) {
      const Shrunk small = shrink(machine_, program, *failure);
      std::printf("  %u of %u units left after %u tries: %s\n", units_left(small.program), units_left(program),
                  small.tries, small.failure.text().c_str());
      std::printf("%s\n", listing(small.program).c_str());
    }
    std::fflush(stdout);
    return failures_ < options_.most_failures;
  }

  void progress() {
    said_ = Clock::now();
    const double seconds = std::chrono::duration<double>(said_ - start_).count();
    std::printf("%.0f s: %u programs, %u failures, %.1f M words compared\n", seconds, programs_, failures_,
                static_cast<double>(machine_.compared_words()) * 1e-6);
    std::fflush(stdout);
  }

  int end() {
    progress();
    for (const auto& [layout, count] : machine_.runs()) {
      std::printf("  %6llu runs  %s\n", static_cast<unsigned long long>(count), layout.c_str());
    }
    if (machine_.runs().empty()) std::printf("nothing was run\n");
    return failures_ == 0 && !machine_.runs().empty() ? 0 : 1;
  }

 private:
  const Options& options_;
  Machine machine_;
  Clock::time_point start_ = Clock::now(), said_ = start_;
  uint32_t programs_ = 0, failures_ = 0;
};

int work(const Options& options) {
  if (!options.save.empty()) {
    const auto programs = made(options, options.first_seed, options.seeds == 0 ? 10 : options.seeds);
    save(options.save, programs);
    std::printf("%zu programs\n", programs.size());
    return 0;
  }
  vulkan::DeviceOptions device_options;
  if (options.device == "cpu") {
    device_options.choice.cpu = true;
  } else if (!options.device.empty()) {
    device_options.choice.index = static_cast<uint32_t>(std::stoul(options.device));
  }
  device_options.validation = options.validation;
  device_options.cache_directory = "";
  auto device = vulkan::Device::open(device_options);
  if (!device) {
    std::fprintf(stderr, "differential: %s\n", device.error().describe().c_str());
    return 2;
  }
  std::printf("%s, subgroups of %u to %u\n", (*device)->facts().name.c_str(), (*device)->facts().min_subgroup_size,
              (*device)->facts().max_subgroup_size);
  Session session(options, **device);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                                      (options.minutes > 0 ? options.minutes : 1e6) * 60));
  if (!options.load.empty()) {
    for (const AssembledProgram& program : load(options.load)) {
      if (Clock::now() > end || !session.run(program)) break;
    }
    return session.end();
  }
  const uint32_t last = options.seeds != 0    ? options.first_seed + options.seeds
                        : options.minutes > 0 ? ~0u
                                              : options.first_seed + 1;
  for (uint32_t seed = options.first_seed; seed < last && Clock::now() < end; ++seed) {
    for (const AssembledProgram& program : made(options, seed, 1)) {
      if (Clock::now() > end) break;
      if (!session.run(program)) return session.end();
    }
  }
  return session.end();
}

}  // namespace
}  // namespace orrery::shader::differential

int main(int argc, char** argv) {
  orrery::shader::differential::Options options;
  CLI::App app{"Random programs in the interpreter and in every lane layout of a device"};
  app.add_option("--device", options.device, "its number, or cpu; none: the best");
  app.add_option("--subgroup", options.subgroup, "only layouts of this subgroup width");
  app.add_option("--layout", options.layout, "only layouts whose name holds this");
  app.add_option("--whole-wave", options.whole_wave,
                 "whole waves in one invocation, of programs of so many instructions");
  app.add_option("--family", options.family, "integer, floats, scalar, masks, lanes, flow, lds, memory or mixed");
  app.add_option("--first-seed", options.first_seed, "the first seed");
  app.add_option("--seeds", options.seeds, "how many seeds, each a program of every family");
  app.add_option("--minutes", options.minutes, "ends after so long");
  app.add_option("--failures", options.most_failures, "ends after so many failures");
  app.add_option("--save", options.save, "assembles the programs into a file and ends");
  app.add_option("--load", options.load, "runs the programs of a file; needs no assembler");
  app.add_flag("--validation", options.validation, "with the validation layers");
  app.add_flag("--unbound", options.unbound, "also with nothing bound");
  app.add_flag("--lds-in-memory", options.lds_in_memory, "also with LDS in device memory");
  app.add_flag("--as-gpu", options.as_gpu, "on a CPU device, also the code that a GPU gets");
  app.add_flag("--list", options.list, "prints the programs with their units");
  app.add_flag("--no-shrink", options.no_shrink, "failures as they are");
  CLI11_PARSE(app, argc, argv);
  try {
    return orrery::shader::differential::work(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "differential: %s\n", e.what());
    return 2;
  }
}
