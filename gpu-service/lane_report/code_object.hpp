// AMDGPU code objects (ELF) as LLVM makes them: one program per kernel descriptor, or the compute stage of a pipeline.
#pragma once

#include <expected>

#include "gpu-service/lane_report/bytes.hpp"
#include "gpu-service/lane_report/compute_program.hpp"

namespace orrery::lane_report {

bool is_code_object(Bytes bytes);

// `bytes` begins with the ELF header; offsets are counted from `at`. The reason when it is damaged or holds no compute
// program. Layouts: LLVM "AMDGPU usage", kernel descriptor, code object metadata and PAL metadata.
std::expected<std::vector<ComputeProgram>, std::string> programs_of_code_object(Bytes bytes, uint64_t at);

}  // namespace orrery::lane_report
