// OpenCL C through clang-19 to gfx1013 code objects, kept in a folder by the content they were made from.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace orrery::opencl {

struct CompileJob {
  std::string source_file;
  std::string source;  // its text
  std::string options;
  uint32_t version = 10;  // least OpenCL C version, 10 = 1.0
  uint32_t wave = 32;
  std::vector<std::string> kernels;  // in front of the functions that they call: a program starts with its kernel
};

// The code object's file, or the compiler's first message.
using Compiled = std::expected<std::string, std::string>;

// One answer per job, `at_once` compilers at a time. What `folder` has from an earlier run is not made again.
std::vector<Compiled> compile_all(std::span<const CompileJob> jobs, const std::string& folder, unsigned at_once);

}  // namespace orrery::opencl
