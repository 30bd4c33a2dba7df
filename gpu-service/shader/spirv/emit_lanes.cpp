// What crosses lanes: ballots, votes, lane reads and shuffles. Emitted in subgroup-uniform flow only, because every
// branch of the program is uniform within its wave.
#include <spirv/unified1/GLSL.std.450.h>

#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::spirv {

using ir::Op;
using ir::Type;

// The bits of one slot's lanes, at bit 0 (subgroups of up to 32 lanes).
Id Emitter::subgroup_ballot(Id b) {
  if (subgroup_ == 1) return select(uint_type(), b, u32(1), u32(0));
  module_.capability(spv::CapabilityGroupNonUniformBallot);
  const Id four = module_.vector(uint_type(), 4);
  const Id all = value(spv::OpGroupNonUniformBallot, four, {u32(spv::ScopeSubgroup), b});
  const Id word = value(spv::OpCompositeExtract, uint_type(), {all, 0});
  return pixel() ? by_pixel_lanes(word) : word;
}

Id Emitter::ballot_word(ir::Value v, uint32_t word) {
  if (subgroup_ == 64) {
    module_.capability(spv::CapabilityGroupNonUniformBallot);
    const Id four = module_.vector(uint_type(), 4);
    const Id all = value(spv::OpGroupNonUniformBallot, four, {u32(spv::ScopeSubgroup), id(v, 0)});
    return value(spv::OpCompositeExtract, uint_type(), {all, word});
  }
  Id result = 0;
  for (uint32_t slot = 0; slot < k_; ++slot) {
    if (slot * subgroup_ / 32 != word) continue;
    const uint32_t shift = slot * subgroup_ % 32;
    Id bits;
    if (subgroup_ == 1) {
      bits = select(uint_type(), id(v, slot), u32(1u << shift), u32(0));
    } else {
      bits = subgroup_ballot(id(v, slot));
      if (shift) bits = binary(spv::OpShiftLeftLogical, bits, u32(shift));
    }
    result = result ? binary(spv::OpBitwiseOr, result, bits) : bits;
  }
  return result ? result : u32(0);
}

bool Emitter::emit_lanes(uint32_t inst, const ir::Inst& i) {
  const bool crosses = ir::traits_of(i.op) == ir::Traits::cross && i.op != Op::mask_nonzero;
  if (crosses && exchange_ == LaneExchange::workgroup) {
    emit_exchange(inst, i);
    return true;
  }
  const auto args = f_.args(i);
  const Id type = module_.type(i.type);
  switch (i.op) {
    case Op::ballot:
      alias(inst, 0, ballot_word(args[0], i.imm));
      return true;
    case Op::lane_bit: {
      for (uint32_t slot = first_slot(); slot < end_slot(i); ++slot) {
        const Id word = id(args[subgroup_ == 64 ? 0 : slot * subgroup_ / 32], slot);
        if (subgroup_ == 64) {
          const Id high = value(spv::OpUGreaterThanEqual, bool_type(), {lane(0), u32(32)});
          const Id half = select(uint_type(), high, id(args[1], slot), word);
          const Id by = binary(spv::OpBitwiseAnd, lane(0), u32(31));
          const Id bit = binary(spv::OpBitwiseAnd, binary(spv::OpShiftRightLogical, half, by), u32(1));
          code(spv::OpINotEqual, {type, define(inst, slot), bit, u32(0)});
          continue;
        }
        // One bit per lane, made once: 1 << (lane % 32).
        Id& own = entry_[(9u << 16) + slot];
        if (!own) {
          const Id base = sublane();
          own = subgroup_ == 1 ? u32(1u << (slot % 32)) : in_prelude([&] {
            const uint32_t shift = slot * subgroup_ % 32;
            return binary(spv::OpShiftLeftLogical, u32(1u << shift), base);
          });
        }
        const Id bit = binary(spv::OpBitwiseAnd, word, own);
        code(spv::OpINotEqual, {type, define(inst, slot), bit, u32(0)});
      }
      return true;
    }
    case Op::mask_nonzero: {
      // Not resolved by a pass: the words decide.
      for (uint32_t slot = first_slot(); slot < end_slot(i); ++slot) {
        Id word = id(args[1], slot);
        if (args.size() > 2) word = binary(spv::OpBitwiseOr, word, id(args[2], slot));
        code(spv::OpINotEqual, {type, define(inst, slot), word, u32(0)});
      }
      return true;
    }
    case Op::any: {
      Id all = id(args[0], 0);
      for (uint32_t slot = 1; slot < k_; ++slot) all = value(spv::OpLogicalOr, type, {all, id(args[0], slot)});
      if (subgroup_ == 1) {
        alias(inst, 0, all);
        return true;
      }
      module_.capability(spv::CapabilityGroupNonUniformVote);
      code(spv::OpGroupNonUniformAny, {type, define(inst, 0), u32(spv::ScopeSubgroup), all});
      return true;
    }
    case Op::first_lane: {
      const Id low = extended(GLSLstd450FindILsb, uint_type(), {ballot_word(args[0], 0)});
      Id first = low;
      if (o_.layout.wave == 64) {
        // ~0 | 32 stays ~0: FindILsb answers -1 for an empty half.
        const Id high = extended(GLSLstd450FindILsb, uint_type(), {ballot_word(args[0], 1)});
        first = extended(GLSLstd450UMin, uint_type(), {low, binary(spv::OpBitwiseOr, high, u32(32))});
      }
      const Id none = value(spv::OpIEqual, bool_type(), {first, u32(~0u)});
      code(spv::OpSelect, {uint_type(), define(inst, 0), none, u32(0), first});
      return true;
    }
    case Op::read_lane: {
      const ir::Inst& which = f_.at(args[1]);
      if (subgroup_ > 1) module_.capability(spv::CapabilityGroupNonUniformBallot);
      auto from = [&](uint32_t slot, Id sub) {
        if (subgroup_ == 1) return id(args[0], slot);
        return value(spv::OpGroupNonUniformBroadcast, type, {u32(spv::ScopeSubgroup), id(args[0], slot), sub});
      };
      if (which.op == Op::constant) {
        const uint32_t l = which.imm % o_.layout.wave;
        alias(inst, 0, from(l / subgroup_, u32(l % subgroup_)));
        return true;
      }
      const Id l = id(args[1], 0);
      const Id sub = subgroup_ == 1 ? 0 : binary(spv::OpBitwiseAnd, l, u32(subgroup_ - 1));
      if (subgroup_ == 1) {
        alias(inst, 0, picked(args[0], l));
        return true;
      }
      Id result = from(0, sub);
      for (uint32_t slot = 1; slot < k_; ++slot) {
        const Id there = binary(spv::OpBitwiseAnd, l, u32(o_.layout.wave - subgroup_));
        const Id match = value(spv::OpIEqual, bool_type(), {there, u32(slot * subgroup_)});
        result = select(type, match, from(slot, sub), result);
      }
      alias(inst, 0, result);
      return true;
    }
    case Op::shuffle: {
      if (subgroup_ > 1) module_.capability(spv::CapabilityGroupNonUniformShuffle);
      for (uint32_t slot = 0; slot < k_; ++slot) {
        const Id l = id(args[1], slot);
        if (subgroup_ == 1) {
          alias(inst, slot, picked(args[0], l));
          continue;
        }
        auto from = [&](uint32_t source, Id sub) {
          return value(spv::OpGroupNonUniformShuffle, type, {u32(spv::ScopeSubgroup), id(args[0], source), sub});
        };
        const Id sub = binary(spv::OpBitwiseAnd, l, u32(subgroup_ - 1));
        Id result = from(0, sub);
        if (k_ > 1) {
          const Id there = binary(spv::OpBitwiseAnd, l, u32(o_.layout.wave - subgroup_));
          for (uint32_t source = 1; source < k_; ++source) {
            const Id match = value(spv::OpIEqual, bool_type(), {there, u32(source * subgroup_)});
            result = select(type, match, from(source, sub), result);
          }
        }
        alias(inst, slot, result);
      }
      return true;
    }
    default:
      return false;
  }
}

}  // namespace orrery::shader::spirv
