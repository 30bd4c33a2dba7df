#include "tests/gpu-service/shader/cfg/spirv_skeleton.hpp"

#include <fmt/format.h>

#include <spirv-tools/libspirv.hpp>

namespace orrery::shader::cfg::test {

std::string validate_skeleton(const StructuredGraph& graph) {
  std::string text = R"(OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%true = OpConstantTrue %bool
%zero = OpConstant %uint 0
%main = OpFunction %void None %function
)";
  auto out = [&](std::string_view format, auto... parts) {
    fmt::vformat_to(std::back_inserter(text), format, fmt::make_format_args(parts...));
  };
  for (size_t b = 0; b < graph.blocks.size(); ++b) {
    const StructuredBlock& block = graph.blocks[b];
    out("%b{} = OpLabel\n", b);
    if (block.merge == MergeKind::selection) out("OpSelectionMerge %b{} None\n", block.merge_block);
    if (block.merge == MergeKind::loop) out("OpLoopMerge %b{} %b{} None\n", block.merge_block, block.continue_block);
    switch (block.terminator) {
      case TerminatorKind::end:
        out("OpReturn\n");
        break;
      case TerminatorKind::jump:
        out("OpBranch %b{}\n", block.targets[0]);
        break;
      case TerminatorKind::branch:
        out("OpBranchConditional %true %b{} %b{}\n", block.targets[0], block.targets[1]);
        break;
      case TerminatorKind::route:
        out("OpSwitch %zero %b{}", block.targets.back());
        for (size_t i = 0; i < block.values.size(); ++i) out(" {} %b{}", block.values[i], block.targets[i]);
        out("\n");
        break;
    }
  }
  text += "OpFunctionEnd\n";
  std::string said;
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_3);
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t& at, const char* message) {
    said += fmt::format("{}: {}\n", at.index, message);
  });
  std::vector<uint32_t> words;
  if (!tools.Assemble(text, &words)) return "does not assemble: " + said + text;
  if (!tools.Validate(words)) return said + text;
  return {};
}

}  // namespace orrery::shader::cfg::test
