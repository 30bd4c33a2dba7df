// A failing program made small: units that the failure does not need are replaced by s_nop.
#pragma once

#include "tests/gpu-service/shader/differential/machine.hpp"

namespace orrery::shader::differential {

struct Shrunk {
  AssembledProgram program;
  Failure failure;
  uint32_t tries = 0;
};

// Keeps the failure's variant and step. At most so many tries.
Shrunk shrink(Machine& machine, const AssembledProgram& program, const Failure& failure, uint32_t most_tries = 400);

// Units that are still there, without unit 0.
uint32_t units_left(const AssembledProgram& program);

}  // namespace orrery::shader::differential
