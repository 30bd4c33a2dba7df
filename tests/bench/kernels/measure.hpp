// One case in one wave width and memory: our layouts and the GLSL twins, compared and timed in turn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu-service/vulkan/device.hpp"
#include "tests/bench/kernels/device_block.hpp"
#include "tests/bench/kernels/kernel_case.hpp"

namespace orrery::bench {

struct MeasureOptions {
  std::string corpus, twins;  // folders
  CaseSize size = CaseSize::huge;
  MemoryPlace place = MemoryPlace::device;
  bool whole_wave = false;                   // the whole wave in one invocation too, for comparison
  std::optional<uint32_t> workgroup_memory;  // bytes that the device is taken to have
  uint32_t samples = 25;
  double least_ms = 1.2;  // a sample repeats the dispatch until it is this long
  double warm_ms = 0;     // runs without being timed for so long first
  uint64_t most_bytes = 3ull << 30;
};

// Device time of one dispatch, nanoseconds.
struct Spread {
  double median = 0, low = 0, high = 0;  // low and high: quartiles
};

struct Contender {
  std::string label;    // "k=1", ..., "glsl", "native"
  std::string refusal;  // not empty: it did not run
  std::string differs;  // from the twin, in words; empty: equal
  Spread time;
  double compile_ms = 0, translate_us = 0;
  size_t words = 0, bound_buffers = 0;
  uint32_t instructions = 0, parts = 0;
  bool page_table = false, scratch = false;
};

struct Measured {
  std::string name;
  uint32_t wave = 32;
  MemoryPlace place = MemoryPlace::device;
  unsigned n = 0;
  uint64_t bytes = 0;
  uint32_t repeats = 1;  // dispatches of a sample
  std::vector<Contender> ours, twins;
};

Result<Measured> measure(const vulkan::Device& device, Commands& commands, const KernelCase& kernel, uint32_t wave,
                         const MeasureOptions& options);

}  // namespace orrery::bench
