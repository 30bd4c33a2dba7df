// SPIR-V's rules of structured control flow, checked on a structured graph. Source: SPIR-V specification 1.6, 2.11.
#pragma once

#include <string>

#include "gpu-service/shader/cfg/structured_graph.hpp"

namespace orrery::shader::cfg::test {

// The first rule that is broken, with its block; empty when all hold.
std::string broken_rule(const StructuredGraph& graph);

}  // namespace orrery::shader::cfg::test
