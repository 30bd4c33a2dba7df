// One device for the tests of this folder, and programs of a few instructions with a usual beginning and end.
#pragma once

#include <string>

#include "tests/gpu-service/shader/differential/machine.hpp"

namespace orrery::shader::differential {

const vulkan::Device& test_device();

// `body`, a line each, with program_writer.hpp's registers v1..v3, s33 and the descriptors, v[8:11] of the input, s20
// and s21 of the group. v[8:11] are kept at the end. Holes: {exec} {vcc} {b}, and {s36} for a mask's name.
AssembledProgram short_program(const std::string& body, const Launch& launch);

// What differs in any layout, in wave32 and wave64 (launch.wave is set; threads 0: one wave); empty: nothing. A wave64
// in one invocation is run only where asked: lavapipe compiles it for 5 to 30 seconds.
std::string difference(const std::string& body, Launch launch = {.threads = 0}, bool whole_wave64 = false);

}  // namespace orrery::shader::differential
