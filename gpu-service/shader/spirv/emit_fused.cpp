// Fused multiply-add of floats on a device whose own flushes denormals: where one may be at hand, the sum is made in
// doubles (Routine::fma_32). A denormal matters as a factor, as what breaks a tie, and as the result.
#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>

#include "gpu-service/shader/spirv/conditional.hpp"

namespace orrery::shader::spirv {

using ir::Type;

void Emitter::fma_with_denormals(uint32_t inst, uint32_t slot) {
  const ir::Inst& i = f_.insts[inst];
  const Id type = module_.type(Type::f32), smallest = module_.constant(Type::f32, 0x00800000);
  Id operands[3];
  std::vector<Id> suspects;
  for (uint32_t n = 0; n < 3; ++n) {
    const ir::Value operand = f_.args(i)[n];
    operands[n] = id(operand, slot);
    if (ir::can_be_denormal(f_, operand) && std::ranges::find(suspects, operands[n]) == suspects.end()) {
      suspects.push_back(operands[n]);
    }
  }
  const auto [a, b, c] = operands;
  const Id quick = value(spv::OpExtInst, type, {module_.glsl(), GLSLstd450Fma, a, b, c});
  // The least magnitude of all; NaNs lose. Zeros go the long way as well, which gives what the short one does.
  Id least = value(spv::OpExtInst, type, {module_.glsl(), GLSLstd450FAbs, quick});
  for (const Id suspect : suspects) {
    const Id magnitude = value(spv::OpExtInst, type, {module_.glsl(), GLSLstd450FAbs, suspect});
    least = value(spv::OpExtInst, type, {module_.glsl(), GLSLstd450NMin, least, magnitude});
  }
  const Id rare = value(spv::OpFOrdLessThanEqual, bool_type(), {least, smallest});
  const Id before = current_label_, exactly = module_.new_id(), merge = module_.new_id();
  code(spv::OpSelectionMerge, {merge, 0});
  code(spv::OpBranchConditional, {rare, exactly, merge});
  label(exactly);
  const Id slow = value(spv::OpFunctionCall, type, {routine(Routine::fma_32), a, b, c});
  code(spv::OpBranch, {merge});
  label(merge);
  code(spv::OpPhi, {type, define(inst, slot), quick, before, slow, exactly});
}

}  // namespace orrery::shader::spirv
