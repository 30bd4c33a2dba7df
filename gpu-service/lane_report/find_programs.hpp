// The compute programs of a file or folder.
#pragma once

#include <filesystem>

#include "gpu-service/lane_report/compute_program.hpp"
#include "shared/error.hpp"

namespace orrery::lane_report {

// A code object (.co, or any AMDGPU ELF), a program of the shader corpus (NAME.json beside NAME.bin and NAME.image;
// NAME.bin alone says the same), or a title's executable. Errors: file_missing, file_malformed; a file without a
// compute program is malformed.
Result<std::vector<ComputeProgram>> programs_in(const std::filesystem::path& file);

struct FoundFile {
  std::filesystem::path path;
  Result<std::vector<ComputeProgram>> programs;
};
// The file itself, or the files below the folder that may hold programs, by name: of NAME.json, NAME.bin and NAME.co
// only the first. In a folder, files that are no programs are passed over. Errors: file_missing.
Result<std::vector<FoundFile>> find_programs(const std::filesystem::path& path);

}  // namespace orrery::lane_report
