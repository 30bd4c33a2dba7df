#include "tests/gpu-service/shader/spirv/hand_program.hpp"

#include <gtest/gtest.h>

#include "gpu-service/shader/ir/construct.hpp"
#include "gpu-service/shader/passes/passes.hpp"
#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::test {

using cfg::MergeKind;
using cfg::StructuredBlock;
using cfg::TerminatorKind;

HandProgram straight(BlockWriter writer) {
  HandProgram p;
  p.graph.blocks.resize(1);
  p.blocks = {std::move(writer)};
  return p;
}

HandProgram if_then(cfg::Condition condition, BlockWriter before, BlockWriter inside, BlockWriter after) {
  HandProgram p;
  p.graph.blocks = {
      StructuredBlock{.terminator = TerminatorKind::branch,
                      .condition = condition,
                      .targets = {1, 2},
                      .merge = MergeKind::selection,
                      .merge_block = 2},
      StructuredBlock{.terminator = TerminatorKind::jump, .targets = {2}},
      StructuredBlock{},
  };
  p.blocks = {std::move(before), std::move(inside), std::move(after)};
  return p;
}

HandProgram loop(cfg::Condition condition, BlockWriter before, BlockWriter body, BlockWriter after) {
  HandProgram p;
  p.graph.blocks = {
      StructuredBlock{.terminator = TerminatorKind::jump, .targets = {1}},
      StructuredBlock{.terminator = TerminatorKind::jump,
                      .targets = {2},
                      .merge = MergeKind::loop,
                      .merge_block = 4,
                      .continue_block = 3},
      StructuredBlock{.terminator = TerminatorKind::branch, .condition = condition, .targets = {3, 4}},
      StructuredBlock{.terminator = TerminatorKind::jump, .targets = {1}},
      StructuredBlock{},
  };
  p.blocks = {std::move(before), [](ir::Builder&) {}, std::move(body), [](ir::Builder&) {}, std::move(after)};
  return p;
}

TranslateOptions options_for(uint32_t wave, uint32_t subgroup) {
  TranslateOptions o;
  o.layout = {.wave = wave, .subgroup = subgroup, .k = wave / subgroup};
  o.group_size = {wave, 1, 1};
  o.rsrc2 = (8u << 1) | (1u << 7) | (2u << 15);  // 8 user SGPRs, group id x in s8, 1 KiB of LDS
  return o;
}

ir::Function function_of(const HandProgram& program, const TranslateOptions& options) {
  ir::Function f;
  f.graph = &program.graph;
  const Program nothing;
  ir::construct(f, nothing, options, [&](ir::Builder& b, uint32_t n) {
    program.blocks[n](b);
    return true;
  });
  passes::run(f, passes::wishes(options.layout, options.host));
  return f;
}

Module module_of(const HandProgram& program, const TranslateOptions& options) {
  const ir::Function f = function_of(program, options);
  auto module = spirv::Emitter(f, options).emit();
  if (!module) {
    ADD_FAILURE() << module.error().front().reason;
    return {};
  }
  return std::move(*module);
}

uint32_t count_of(const ir::Function& function, ir::Op op) {
  uint32_t count = 0;
  for (const ir::Block& block : function.blocks) {
    for (const uint32_t id : block.body) count += function.insts[id].op == op;
    if (op == ir::Op::phi) count += static_cast<uint32_t>(block.phis.size());
  }
  return count;
}

}  // namespace orrery::shader::test
