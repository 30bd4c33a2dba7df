// Runs a program's control flow with given branch decisions and lists the guest instructions it passes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu-service/shader/cfg/structured_graph.hpp"

namespace orrery::shader::cfg::test {

struct Walk {
  std::vector<uint32_t> instructions;  // indices; branches excluded
  std::vector<uint32_t> decisions;     // branch instruction * 2 + (condition held)
  bool ended = false;                  // false: stopped after `limit` steps
  std::string error;
};

// Decision = f(seed, branch, how often it was passed): the same for both walks.
Walk walk_program(const Program& program, uint32_t seed, uint32_t limit);
Walk walk_graph(const StructuredGraph& graph, const Program& program, uint32_t seed, uint32_t limit);

}  // namespace orrery::shader::cfg::test
