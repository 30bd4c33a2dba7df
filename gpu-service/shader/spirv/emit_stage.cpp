// Stages of a draw: the memory they share, a pixel's inputs, outputs and end.
#include <spirv/unified1/GLSL.std.450.h>
#include <algorithm>

#include "gpu-service/shader/spirv/conditional.hpp"

namespace orrery::shader::spirv {

using ir::Access;
using ir::Op;
using ir::Type;

namespace {

enum : uint32_t { kInput = 20u << 16, kPixelLane = 21u << 16 };
// Locations of a pixel's inputs (translate.hpp).
enum : uint32_t { kPerspective = 0, kLinear = 1, kVertices = 2 };

}  // namespace

bool Emitter::pixel() const { return o_.stage.kind == StageKind::pixel; }

std::string Emitter::why_no_pixel() const {
  if (o_.layout.k != 1 || o_.layout.subgroup > 32) return "a pixel shader whose lanes are not invocations";
  if (needs_.lane_values) return "other lanes' values in a pixel shader";
  if (needs_.lds || needs_.barrier) return "LDS or barriers in a pixel shader";
  if (needs_.private_memory) return "private memory in a pixel shader";
  return {};
}

void Emitter::emit_draw_memory(uint32_t inst, const ir::Inst& i, const Access& a, uint32_t slot) {
  const auto args = f_.args(i);
  const Id lanes = f_.at(args[0]).op == Op::constant ? 0 : id(args[0], slot);
  const Id wide = module_.type(Type::u64), base = push(kBoundInfo);
  const auto place = [&](uint32_t n) {
    const Id at = binary(spv::OpIAdd, id(args[1], slot), u32(static_cast<uint32_t>(a.offset) + n * 4));
    return value(spv::OpIAdd, wide, {base, value(spv::OpUConvert, wide, {at})});
  };
  if (i.op == Op::load) {
    finish_load(inst, i, slot, conditional(lanes, uint_type(), a.components, [&]() -> Results {
                  Results parts{};
                  for (uint32_t n = 0; n < a.components; ++n) parts[n] = load_device(place(n), Type::u32);
                  return parts;
                }));
    return;
  }
  conditional(lanes, 0, 0, [&]() -> Results {
    for (uint32_t n = 0; n < a.components; ++n) store_device(place(n), Type::u32, id(args[2 + n], slot));
    return {};
  });
}

Id Emitter::output(uint32_t target) {
  Id& variable = outputs_[target];
  if (variable) return variable;
  if (target == kKeepsPixels) return variable = module_.variable(spv::StorageClassPrivate, bool_type());
  variable = module_.variable(spv::StorageClassOutput, module_.vector(module_.type(Type::f32), 4));
  module_.decorate(variable, spv::DecorationLocation, {target});
  return variable;
}

void Emitter::emit_output(const ir::Inst& i, const Access& a) {
  const auto args = f_.args(i);
  const Id variable = output(a.binding), lanes = id(args[0], 0);
  if (a.binding == kKeepsPixels) {
    const Id kept = value(spv::OpLoad, bool_type(), {variable});
    code(spv::OpStore, {variable, value(spv::OpLogicalOr, bool_type(), {kept, lanes})});
    return;
  }
  const Id real = module_.type(Type::f32), pointer = module_.pointer(spv::StorageClassOutput, real);
  conditional(lanes, 0, 0, [&]() -> Results {
    const Id channel = value(spv::OpAccessChain, pointer, {variable, u32(static_cast<uint32_t>(a.offset))});
    code(spv::OpStore, {channel, value(spv::OpBitcast, real, {id(args[1], 0)})});
    return {};
  });
}

// Whatever is not exported is 0.
void Emitter::clear_outputs(Words& out) {
  for (uint32_t target = 0; target < outputs_.size(); ++target) {
    if (!outputs_[target]) continue;
    const Id zero = target == kKeepsPixels ? module_.constant(Type::b1, 0)
                                           : module_.null(module_.vector(module_.type(Type::f32), 4));
    put(out, spv::OpStore, {outputs_[target], zero});
  }
}

// An end of a pixel's way: what no export with the valid mask kept is discarded.
void Emitter::end_pixel() {
  const bool keeps = std::ranges::any_of(
      f_.accesses, [](const Access& a) { return a.space == ir::Space::output && a.binding == kKeepsPixels; });
  if (!keeps) return;
  const Id kept = value(spv::OpLoad, bool_type(), {output(kKeepsPixels)});
  const Id gone = module_.new_id(), stays = module_.new_id();
  code(spv::OpSelectionMerge, {stays, 0});
  code(spv::OpBranchConditional, {kept, stays, gone});
  label(gone);
  code(spv::OpKill, {});
  label(stays);
}

Id Emitter::stage_variable(uint32_t location) {
  Id& variable = stage_variables_[location];
  if (variable) return variable;
  const bool flat = location == kVertices;
  variable = module_.variable(spv::StorageClassInput,
                              flat ? module_.vector(uint_type(), 3) : module_.vector(module_.type(Type::f32), 2));
  module_.decorate(variable, spv::DecorationLocation, {location});
  if (flat) module_.decorate(variable, spv::DecorationFlat);
  if (location == kLinear) module_.decorate(variable, spv::DecorationNoPerspective);
  return variable;
}

Id Emitter::stage_input(uint32_t which) {
  Id& cached = entry_[kInput + which];
  if (cached) return cached;
  const auto input = static_cast<StageInput>(which);
  const auto channel = [&](Id variable, Type type, uint32_t n) {
    const Id pointer = module_.pointer(spv::StorageClassInput, module_.type(type));
    return value(spv::OpLoad, module_.type(type), {value(spv::OpAccessChain, pointer, {variable, u32(n)})});
  };
  const auto bits = [&](Id real) { return value(spv::OpBitcast, uint_type(), {real}); };
  return cached = in_prelude([&]() -> Id {
           switch (input) {
             case StageInput::perspective_i:
             case StageInput::perspective_j:
               return bits(channel(stage_variable(kPerspective), Type::f32, which % 2));
             case StageInput::linear_i:
             case StageInput::linear_j:
               return bits(channel(stage_variable(kLinear), Type::f32, which % 2));
             case StageInput::x:
             case StageInput::y:
             case StageInput::z:
             case StageInput::w: {
               const Id four = module_.vector(module_.type(Type::f32), 4);
               const Id place = module_.built_in(spv::BuiltInFragCoord, four);
               const Id v = channel(place, Type::f32, which - static_cast<uint32_t>(StageInput::x));
               if (input != StageInput::w) return bits(v);
               // The host has 1 / w there.
               const Id one = module_.constant(Type::f32, 0x3f800000);
               return bits(value(spv::OpFDiv, module_.type(Type::f32), {one, v}));
             }
             case StageInput::vertex_0:
             case StageInput::vertex_1:
             case StageInput::vertex_2:
               return channel(stage_variable(kVertices), Type::u32,
                              which - static_cast<uint32_t>(StageInput::vertex_0));
             case StageInput::covered: {
               const Id variable = module_.built_in(spv::BuiltInHelperInvocation, bool_type());
               const Id helps = value(spv::OpLoad, bool_type(), {variable});
               return select(uint_type(), helps, u32(0), u32(1));
             }
           }
           return u32(0);
         });
}

// The lane of this subgroup that is the wave's lane 0: the first that is covered, since stores of others are not made
// by the host. Lanes are numbered by exclusive or with it, which keeps the pixels of a quad together.
Id Emitter::first_covered() {
  Id& cached = entry_[kPixelLane];
  if (cached) return cached;
  const Id covered = stage_input(static_cast<uint32_t>(StageInput::covered));
  module_.capability(spv::CapabilityGroupNonUniformBallot);
  return cached = in_prelude([&] {
           const Id four = module_.vector(uint_type(), 4);
           const Id is = value(spv::OpINotEqual, bool_type(), {covered, u32(0)});
           const Id all = value(spv::OpGroupNonUniformBallot, four, {u32(spv::ScopeSubgroup), is});
           const Id word = value(spv::OpCompositeExtract, uint_type(), {all, 0});
           const Id first = extended(GLSLstd450FindILsb, uint_type(), {word});
           return binary(spv::OpBitwiseAnd, first, u32(31));
         });
}

Id Emitter::pixel_lane() {
  Id& cached = entry_[kPixelLane + 1];
  if (cached) return cached;
  module_.capability(spv::CapabilityGroupNonUniform);
  const Id variable = module_.built_in(spv::BuiltInSubgroupLocalInvocationId, uint_type());
  module_.decorate(variable, spv::DecorationFlat);
  const Id first = first_covered();
  return cached =
             in_prelude([&] { return binary(spv::OpBitwiseXor, value(spv::OpLoad, uint_type(), {variable}), first); });
}

// The host's ballot with its bits where the lanes' numbers are.
Id Emitter::by_pixel_lanes(Id word) {
  constexpr uint32_t kEven[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
  const Id first = first_covered();
  for (uint32_t n = 0; n < std::size(kEven); ++n) {
    const Id up = binary(spv::OpShiftLeftLogical, binary(spv::OpBitwiseAnd, word, u32(kEven[n])), u32(1u << n));
    const Id down = binary(spv::OpBitwiseAnd, binary(spv::OpShiftRightLogical, word, u32(1u << n)), u32(kEven[n]));
    const Id bit = binary(spv::OpBitwiseAnd, first, u32(1u << n));
    const Id moved = value(spv::OpINotEqual, bool_type(), {bit, u32(0)});
    word = select(uint_type(), moved, binary(spv::OpBitwiseOr, up, down), word);
  }
  return word;
}

}  // namespace orrery::shader::spirv
