// Where a lane is: user data, group, wave, lane and thread ids. Computed once, in front of the entry block.
#include <bit>

#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::spirv {

using ir::Op;
using ir::Type;

namespace {

enum : uint32_t {
  kSublane = 1u << 16,
  kWave = 2u << 16,
  kGroup = 3u << 16,
  kThread = 4u << 16,
  kLocal = 5u << 16,
  kExists = 6u << 16,
  kLane = 7u << 16,
  kPush = 8u << 16
};
constexpr uint32_t kOffsets[Emitter::kMemberCount] = {0, 64, 72, 80, 88, 96, 112, 108, 124};

}  // namespace

Id Emitter::push(uint32_t member, uint32_t index) {
  Id& cached = entry_[kPush + member * 32 + index];
  if (!cached) cached = in_prelude([&] { return push_here(member, index); });
  return cached;
}

Id Emitter::push_here(uint32_t member, uint32_t index) {
  const Id uint = uint_type();
  if (!push_variable_) {
    const Id sixteen = module_.array(uint, 16), three = module_.array(uint, 3), pair = module_.vector(uint, 2);
    module_.decorate(sixteen, spv::DecorationArrayStride, {4});
    module_.decorate(three, spv::DecorationArrayStride, {4});
    const Id block = module_.structure({sixteen, pair, pair, pair, pair, three, three, uint, uint});
    module_.decorate(block, spv::DecorationBlock);
    for (uint32_t m = 0; m < kMemberCount; ++m) module_.member_decorate(block, m, spv::DecorationOffset, {kOffsets[m]});
    push_variable_ = module_.variable(spv::StorageClassPushConstant, block);
  }
  if (member >= kPageTable && member <= kScratch) {
    const Id pair = module_.vector(uint, 2);
    const Id pointer =
        value(spv::OpAccessChain, module_.pointer(spv::StorageClassPushConstant, pair), {push_variable_, u32(member)});
    const Id loaded = value(spv::OpLoad, pair, {pointer});
    return value(spv::OpBitcast, module_.type(Type::u64), {loaded});
  }
  if (member >= kCodeLow) {
    const Id pointer =
        value(spv::OpAccessChain, module_.pointer(spv::StorageClassPushConstant, uint), {push_variable_, u32(member)});
    return value(spv::OpLoad, uint, {pointer});
  }
  const Id pointer = value(spv::OpAccessChain, module_.pointer(spv::StorageClassPushConstant, uint),
                           {push_variable_, u32(member), u32(index)});
  return value(spv::OpLoad, uint, {pointer});
}

Id Emitter::sublane() {
  if (pixel()) return pixel_lane();
  if (subgroup_ == 1) return u32(0);
  Id& cached = entry_[kSublane];
  if (cached) return cached;
  if (exchange_ != LaneExchange::subgroup) {
    const Id variable = module_.built_in(spv::BuiltInLocalInvocationIndex, uint_type());
    return cached = in_prelude([&] {
             const Id index = value(spv::OpLoad, uint_type(), {variable});
             return waves_ == 1 ? index : binary(spv::OpBitwiseAnd, index, u32(subgroup_ - 1));
           });
  }
  module_.capability(spv::CapabilityGroupNonUniform);
  const Id variable = module_.built_in(spv::BuiltInSubgroupLocalInvocationId, uint_type());
  return cached = in_prelude([&] { return value(spv::OpLoad, uint_type(), {variable}); });
}

Id Emitter::wave_in_group() {
  if (waves_ == 1) return u32(0);
  Id& cached = entry_[kWave];
  if (cached) return cached;
  if (exchange_ != LaneExchange::subgroup) {
    const Id variable = module_.built_in(spv::BuiltInLocalInvocationIndex, uint_type());
    return cached = in_prelude([&] {
             const Id index = value(spv::OpLoad, uint_type(), {variable});
             return subgroup_ == 1 ? index : binary(spv::OpUDiv, index, u32(subgroup_));
           });
  }
  module_.capability(spv::CapabilityGroupNonUniform);
  const Id variable = module_.built_in(spv::BuiltInSubgroupId, uint_type());
  return cached = in_prelude([&] { return value(spv::OpLoad, uint_type(), {variable}); });
}

Id Emitter::group_id(uint32_t dimension) {
  Id& cached = entry_[kGroup + dimension];
  if (cached) return cached;
  const Id three = module_.vector(uint_type(), 3);
  const Id variable = module_.built_in(spv::BuiltInWorkgroupId, three);
  const Id first = push(kFirstGroup, dimension);
  return cached = in_prelude([&] {
           const Id pointer = value(spv::OpAccessChain, module_.pointer(spv::StorageClassInput, uint_type()),
                                    {variable, u32(dimension)});
           const Id own = value(spv::OpLoad, uint_type(), {pointer});
           return binary(spv::OpIAdd, own, first);
         });
}

Id Emitter::lane(uint32_t slot) {
  if (subgroup_ == 1) return u32(slot);
  if (slot == 0) return sublane();
  Id& cached = entry_[kLane + slot];
  if (cached) return cached;
  const Id base = sublane();
  return cached = in_prelude([&] { return binary(spv::OpIAdd, base, u32(slot * subgroup_)); });
}

Id Emitter::thread_in_group(uint32_t slot) {
  if (waves_ == 1) return lane(slot);
  Id& cached = entry_[kThread + slot];
  if (cached) return cached;
  const Id wave = wave_in_group(), own = lane(slot);
  return cached = in_prelude([&] { return binary(spv::OpIAdd, binary(spv::OpIMul, wave, u32(o_.layout.wave)), own); });
}

Id Emitter::local_id(uint32_t dimension, uint32_t slot) {
  const auto& size = o_.group_size;
  if (size[dimension] == 1) return u32(0);
  const Id thread = thread_in_group(slot);
  const uint32_t before = dimension == 0 ? 1 : dimension == 1 ? size[0] : size[0] * size[1];
  const bool last = (dimension == 0 && size[1] * size[2] == 1) || (dimension == 1 && size[2] == 1) || dimension == 2;
  Id& cached = entry_[kLocal + dimension * 128 + slot];
  if (cached) return cached;
  return cached = in_prelude([&] {
           Id v = thread;
           if (before > 1) {
             v = std::has_single_bit(before)
                     ? binary(spv::OpShiftRightLogical, v, u32(static_cast<uint32_t>(std::countr_zero(before))))
                     : binary(spv::OpUDiv, v, u32(before));
           }
           // Threads behind the group's last one wrap in no dimension that matters: they do not exist.
           if (!last) {
             v = std::has_single_bit(size[dimension]) ? binary(spv::OpBitwiseAnd, v, u32(size[dimension] - 1))
                                                      : binary(spv::OpUMod, v, u32(size[dimension]));
           }
           return v;
         });
}

Id Emitter::thread_exists(uint32_t slot) {
  Id& cached = entry_[kExists + slot];
  if (cached) return cached;
  const Id thread = thread_in_group(slot);
  std::array<Id, 3> local{}, group{}, total{};
  if (o_.partial_groups) {
    for (uint32_t d = 0; d < 3; ++d) {
      local[d] = local_id(d, slot);
      group[d] = group_id(d);
      total[d] = push(kThreads, d);
    }
  }
  return cached = in_prelude([&] {
           Id exists = 0;
           auto also = [&](Id condition) {
             exists = exists ? value(spv::OpLogicalAnd, bool_type(), {exists, condition}) : condition;
           };
           if (threads_ % o_.layout.wave != 0) also(value(spv::OpULessThan, bool_type(), {thread, u32(threads_)}));
           for (uint32_t d = 0; d < 3 && o_.partial_groups; ++d) {
             const Id global = binary(spv::OpIAdd, binary(spv::OpIMul, group[d], u32(o_.group_size[d])), local[d]);
             const Id inside = value(spv::OpULessThan, bool_type(), {global, total[d]});
             const Id all = value(spv::OpIEqual, bool_type(), {total[d], u32(0)});
             also(value(spv::OpLogicalOr, bool_type(), {inside, all}));
           }
           return exists ? exists : module_.constant(Type::b1, 1);
         });
}

bool Emitter::emit_place(uint32_t inst, const ir::Inst& i) {
  for (uint32_t slot = first_slot(); slot < end_slot(i); ++slot) {
    switch (i.op) {
      case Op::user_data:
        alias(inst, slot, push(kUserData, i.imm));
        break;
      case Op::code_address:
        alias(inst, slot, push(kCodeLow + i.imm));
        break;
      case Op::group_id:
        alias(inst, slot, group_id(i.imm));
        break;
      case Op::wave_id:
        alias(inst, slot, wave_in_group());
        break;
      case Op::lane_id:
        alias(inst, slot, lane(slot));
        break;
      case Op::local_id:
        alias(inst, slot, local_id(i.imm, slot));
        break;
      case Op::thread_exists:
        alias(inst, slot, thread_exists(slot));
        break;
      case Op::stage_input:
        alias(inst, slot, stage_input(i.imm));
        break;
      default:
        return false;
    }
  }
  return true;
}

}  // namespace orrery::shader::spirv
