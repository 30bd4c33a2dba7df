// Random programs through LLVM's assembler, and to a file and back, for machines that have no assembler.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "gpu-service/shader/translate.hpp"
#include "tests/gpu-service/shader/differential/random_program.hpp"

namespace orrery::shader::differential {

// All at once. Throws with the assembler's complaint.
std::vector<AssembledProgram> assemble(std::span<const ProgramText> programs);
AssembledProgram assemble(const ProgramText& program);

void save(const std::filesystem::path& file, std::span<const AssembledProgram> programs);
// Throws where the file is no such file.
std::vector<AssembledProgram> load(const std::filesystem::path& file);

// The reachable code. Throws where it can't be read.
Program read(const AssembledProgram& program);
// Its instructions but s_nop and those that every program has, one a line.
std::string listing(const AssembledProgram& program);

}  // namespace orrery::shader::differential
