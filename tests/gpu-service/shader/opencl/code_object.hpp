// A code object: its image as loaded, and each kernel's descriptor. Layouts: LLVM "AMDGPU usage", code object V5 and
// kernel descriptor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace orrery::opencl {

// One explicit argument, as the metadata has it.
struct KernelArgument {
  uint32_t offset = 0, size = 0;
  bool local = false;  // a pointer to LDS that the launch sizes
};

struct Kernel {
  std::string name;
  uint64_t entry = 0;       // bytes from the start of the image
  uint64_t code_bytes = 0;  // to its function's end; 0: not said
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;     // which user SGPRs are set up
  uint32_t group_bytes = 0;    // LDS
  uint32_t private_bytes = 0;  // scratch per lane
  uint32_t kernarg_bytes = 0;
  std::array<uint32_t, 3> required_group{0, 0, 0};  // reqd_work_group_size; 0: none
  std::vector<KernelArgument> arguments;
  uint32_t hidden_arguments = 0;  // where those start; 0: there are none
  uint32_t most_threads = 0;      // of a group: max_flat_workgroup_size; 0: not said
};

struct CodeObject {
  std::vector<std::byte> image;  // as loaded at a multiple of 4 KiB
  std::vector<Kernel> kernels;
  bool relocated = false;  // wants dynamic relocations, which are not done
};

std::expected<CodeObject, std::string> read_code_object(std::span<const std::byte> bytes);
std::expected<CodeObject, std::string> read_code_object(const std::string& file);

}  // namespace orrery::opencl
