// The cases of the title `kernels` (tests/titles/kernels/cases.inc) at a size that keeps a large GPU busy, through the
// title's own C sources.
#pragma once

#include <array>
#include <span>
#include <string>

extern "C" {
#include "compare.h"
#include "dispatch.h"
}

#include "shared/error.hpp"
#include "tests/gpu-service/dispatch/corpus_kernel.hpp"

namespace orrery::bench {

enum class CaseSize : uint8_t { small, normal, large, huge };

struct KernelCase {
  const char* name;
  std::array<unsigned, 4> n;  // by CaseSize
  const char* items;
  const char* arguments;
  tolerance allowed;
};
std::span<const KernelCase> kernel_cases();

// One case at one size: its arguments and where they lie in the block.
struct PreparedCase {
  std::array<argument, MOST_ARGUMENTS> arguments{};
  int count = 0;
  block_layout layout{};
  std::array<uint32_t, 3> items{1, 1, 1};  // work items
  bool by_threads = false;                 // exactly so many: the last group is partial
};
Result<PreparedCase> prepare(const KernelCase& kernel, CaseSize size);

// A corpus kernel in the form that the title's C sources take. Points into itself.
struct TitleKernel {
  explicit TitleKernel(const dispatch::CorpusKernel& from, const void* image);
  TitleKernel(const TitleKernel&) = delete;
  TitleKernel& operator=(const TitleKernel&) = delete;
  std::vector<gpu_kernel_argument> arguments;
  gpu_kernel kernel{};
};

}  // namespace orrery::bench
