// Programs made with the builder instead of a decoder: a graph, a callback per block, and the module in every lane
// layout.
#pragma once

#include <functional>
#include <vector>

#include "gpu-service/shader/ir/builder.hpp"

namespace orrery::shader::test {

using BlockWriter = std::function<void(ir::Builder&)>;

struct HandProgram {
  cfg::StructuredGraph graph;
  std::vector<BlockWriter> blocks;  // parallel to graph.blocks
};

// One block that ends.
HandProgram straight(BlockWriter writer);
// Entry, then (when `condition` holds) a middle block, then the end.
HandProgram if_then(cfg::Condition condition, BlockWriter before, BlockWriter inside, BlockWriter after);
// Entry, header, body that repeats while `condition` holds, end.
HandProgram loop(cfg::Condition condition, BlockWriter before, BlockWriter body, BlockWriter after);

TranslateOptions options_for(uint32_t wave, uint32_t subgroup);
Module module_of(const HandProgram& program, const TranslateOptions& options);
ir::Function function_of(const HandProgram& program, const TranslateOptions& options);
uint32_t count_of(const ir::Function& function, ir::Op op);

}  // namespace orrery::shader::test
