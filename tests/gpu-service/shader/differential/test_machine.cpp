#include "tests/gpu-service/shader/differential/test_machine.hpp"

#include <fmt/format.h>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <stdexcept>

#include "tests/gpu-service/shader/differential/assembly.hpp"
#include "tests/gpu-service/shader/differential/memory_map.hpp"
#include "tests/gpu-service/shader/differential/program_writer.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::shader::differential {

const vulkan::Device& test_device() {
  static const std::unique_ptr<vulkan::Device> device = [] {
    // lavapipe without its optimizer: compiling is all that these tests wait for.
    setenv("GALLIVM_PERF", "nopt", 0);
    auto opened = vulkan::Device::open(vulkan::test_options());
    if (!opened) throw std::runtime_error(opened.error().describe());
    return std::move(*opened);
  }();
  return *device;
}

AssembledProgram short_program(const std::string& body, const Launch& launch) {
  ProgramWriter w(launch, "short", 1);
  write_place(w);
  w.line("v_lshlrev_b32 v4, 4, v1");
  w.line("buffer_load_dwordx4 v[8:11], v4, s[4:7], 0 offen");
  w.line("s_lshl_b32 s20, s16, 3");
  w.line("s_load_dwordx2 s[20:21], s[0:1], s20");
  w.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
  if (!launch.starts_full()) w.line("s_mov_{b} {exec}, " + w.mask(34));
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) {
    for (uint32_t sgpr = 34; sgpr < 80; sgpr += 2) {
      const std::string hole = fmt::format("{{s{}}}", sgpr);
      for (size_t at = line.find(hole); at != std::string::npos; at = line.find(hole)) {
        line.replace(at, hole.size(), w.mask(sgpr));
      }
    }
    if (line.ends_with(':')) {
      w.label(line.substr(0, line.size() - 1));
    } else if (!line.empty()) {
      w.line(line);
    }
  }
  w.line("s_mov_{b} {exec}, " + w.mask(34));
  w.line("v_lshlrev_b32 v4, 4, v1");
  w.line(fmt::format("v_add_nc_u32 v4, {:#x}, v4", kOutput));
  w.line("buffer_store_dwordx4 v[8:11], v4, s[8:11], 0 offen");
  w.line("s_endpgm");
  ProgramText text = w.finish();
  text.name = "short";
  return assemble(text);
}

std::string difference(const std::string& body, Launch launch, bool whole_wave64) {
  constexpr uint32_t kMost = 150;
  Machine machine(test_device(), {.whole_wave_instructions = whole_wave64 ? 20 * kMost : kMost});
  const uint32_t asked = launch.threads;
  for (const uint32_t wave : {32u, 64u}) {
    launch.wave = wave;
    launch.threads = asked == 0 ? wave : asked;
    try {
      const AssembledProgram program = short_program(body, launch);
      const auto failure = machine.difference(program);
      if (failure) return failure->text() + "\n" + listing(program);
    } catch (const std::exception& e) {
      return fmt::format("wave{}: {}", wave, e.what());
    }
  }
  return {};
}

}  // namespace orrery::shader::differential
