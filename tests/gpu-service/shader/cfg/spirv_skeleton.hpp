// The bare control flow of a structured graph as a SPIR-V module, for spirv-val.
#pragma once

#include <string>

#include "gpu-service/shader/cfg/structured_graph.hpp"

namespace orrery::shader::cfg::test {

// What the validator says; empty when it accepts.
std::string validate_skeleton(const StructuredGraph& graph);

}  // namespace orrery::shader::cfg::test
