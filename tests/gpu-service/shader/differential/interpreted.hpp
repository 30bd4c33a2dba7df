// A program's run in the host interpreter.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "tests/gpu-service/shader/differential/random_program.hpp"

namespace orrery::shader::differential {

// User data: s[0:1] memory, s[4:7] and s[8:11] descriptors, the others numbers of their own.
std::array<uint32_t, 16> user_data();
uint32_t rsrc1_of(const Launch& launch);
uint32_t rsrc2_of(const Launch& launch);

// Memory afterwards, or why there is none.
std::expected<std::vector<uint32_t>, std::string> interpreted(const AssembledProgram& program);

}  // namespace orrery::shader::differential
