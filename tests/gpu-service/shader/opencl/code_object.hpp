// A compiled kernel: OpenCL C through clang-19 to a gfx1013 code object, its image as loaded, and each kernel's
// descriptor. Layouts: LLVM "AMDGPU usage", code object V5 and kernel descriptor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace orrery::opencl {

struct Kernel {
  std::string name;
  uint64_t entry = 0;  // bytes from the start of the image
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;     // which user SGPRs are set up
  uint32_t group_bytes = 0;    // LDS
  uint32_t private_bytes = 0;  // scratch per lane
  uint32_t kernarg_bytes = 0;
  std::array<uint32_t, 3> required_group{0, 0, 0};  // reqd_work_group_size; 0: none
};

struct CodeObject {
  std::vector<std::byte> image;  // as loaded at a multiple of 4 KiB
  std::vector<Kernel> kernels;
};

// Runs clang-19 and ld.lld-19 in `folder`. Error: the compiler's first message.
std::expected<CodeObject, std::string> compile(const std::string& source_file, const std::string& folder, uint32_t wave,
                                               const std::string& options, uint32_t version);
std::expected<CodeObject, std::string> read_code_object(const std::string& file);

}  // namespace orrery::opencl
