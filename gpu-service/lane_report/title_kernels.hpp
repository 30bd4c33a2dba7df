// Programs inside a title's executable: embedded code objects, and the kernel tables that our titles' build makes
// (tests/titles/gpu/gpu_kernel.h). Programs that a title keeps in files of its own formats are not found.
#pragma once

#include "gpu-service/lane_report/bytes.hpp"
#include "gpu-service/lane_report/compute_program.hpp"

namespace orrery::lane_report {

bool is_executable(Bytes bytes);  // an ELF or SELF file
std::vector<ComputeProgram> programs_of_title(Bytes bytes);

}  // namespace orrery::lane_report
