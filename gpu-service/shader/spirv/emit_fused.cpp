// Fused multiply-adds of floats on a device whose own flushes denormals. A denormal matters as a factor, as what breaks
// a tie, and as the result. Where one is at hand, the sum is made in doubles (Routine::fma_32).
//
// A run of them is written twice: quickly, with the least magnitude of all results and operands; and, where that may be
// a denormal's or a flushed one's, once more with each looked at by itself.
#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>

#include "gpu-service/shader/spirv/conditional.hpp"
#include "gpu-service/shader/spirv/fused_run.hpp"

namespace orrery::shader::spirv {

using ir::Type;

namespace {
constexpr uint32_t kSmallest = 0x00800000;  // of the normal floats, 2^-126
}

// What has been looked at: the least magnitudes of results and operands, in several parts side by side, so that none
// waits for the last.
struct Emitter::LookedAt {
  std::array<Id, 4> least{};
  size_t next = 0;
  std::vector<Id> seen;
};

void Emitter::look_at(LookedAt& all, Id number) {
  if (std::ranges::find(all.seen, number) != all.seen.end()) return;
  all.seen.push_back(number);
  const Id type = module_.type(Type::f32);
  Id& least = all.least[all.next++ % all.least.size()];
  const Id magnitude = extended(GLSLstd450FAbs, type, {number});
  least = least ? extended(GLSLstd450NMin, type, {least, magnitude}) : magnitude;  // NaNs lose
}

// A flushed result is a zero; one that rounds up to the smallest normal number may have been flushed as well.
Id Emitter::may_be_flushed(Id magnitude) {
  return value(spv::OpFOrdLessThanEqual, bool_type(), {magnitude, module_.constant(Type::f32, kSmallest)});
}

Id Emitter::may_be_rare(const LookedAt& all) {
  Id least = 0;
  for (const Id one : all.least) {
    if (one) least = least ? extended(GLSLstd450NMin, module_.type(Type::f32), {least, one}) : one;
  }
  return least ? may_be_flushed(least) : 0;
}

void Emitter::quick_fma(const ir::Inst& i, uint32_t slot, Id to, LookedAt& all) {
  std::array<Id, 3> operands{};
  for (uint32_t n = 0; n < 3; ++n) {
    const ir::Value operand = f_.args(i)[n];
    operands[n] = id(operand, slot);
    if (ir::can_be_denormal(f_, operand)) look_at(all, operands[n]);
  }
  const auto [a, b, c] = operands;
  code(spv::OpExtInst, {module_.type(Type::f32), to, module_.glsl(), GLSLstd450Fma, a, b, c});
  if (!ir::is_large_addend(f_, f_.args(i)[2])) look_at(all, to);
}

// Twice its bits, less one, is below this of denormals and of nothing else, not even of a zero.
Id Emitter::is_denormal(Id number) {
  const Id bits = value(spv::OpBitcast, uint_type(), {number});
  const Id rank = binary(spv::OpIAdd, binary(spv::OpShiftLeftLogical, bits, u32(1)), u32(~0u));
  return value(spv::OpULessThan, bool_type(), {rank, u32(2 * kSmallest - 1)});
}

// A zero that nothing was flushed for: a factor was one, or the product cancels an addend too large to leave a
// denormal.
Id Emitter::is_honest(const std::array<Id, 3>& operands) {
  const Id type = module_.type(Type::f32), zero = module_.constant(Type::f32, 0);
  const auto is_zero = [&](Id number) { return value(spv::OpFOrdEqual, bool_type(), {number, zero}); };
  const Id factor = value(spv::OpLogicalOr, bool_type(), {is_zero(operands[0]), is_zero(operands[1])});
  const Id addend = extended(GLSLstd450FAbs, type, {operands[2]});
  const Id large =
      value(spv::OpFOrdLessThanEqual, bool_type(), {module_.constant(Type::f32, (127u - 76) << 23), addend});
  return value(spv::OpLogicalOr, bool_type(), {factor, large});
}

void Emitter::fma_with_denormals(uint32_t inst, uint32_t slot) {
  const ir::Inst& i = f_.insts[inst];
  if (quick_ != nullptr) return quick_fma(i, slot, define(inst, slot), *quick_);
  const Id type = module_.type(Type::f32), quick = module_.new_id();
  const std::array<Id, 3> operands{id(f_.args(i)[0], slot), id(f_.args(i)[1], slot), id(f_.args(i)[2], slot)};
  const auto [a, b, c] = operands;
  code(spv::OpExtInst, {type, quick, module_.glsl(), GLSLstd450Fma, a, b, c});
  Id rare = 0;
  if (!ir::is_large_addend(f_, f_.args(i)[2])) {
    const Id tiny = may_be_flushed(extended(GLSLstd450FAbs, type, {quick}));
    rare = value(spv::OpLogicalAnd, bool_type(), {tiny, value(spv::OpLogicalNot, bool_type(), {is_honest(operands)})});
  }
  for (uint32_t n = 0; n < 3; ++n) {
    if (!ir::can_be_denormal(f_, f_.args(i)[n])) continue;
    const Id denormal = is_denormal(operands[n]);
    rare = rare ? value(spv::OpLogicalOr, bool_type(), {rare, denormal}) : denormal;
  }
  if (rare == 0) return alias(inst, slot, quick);
  const Id before = current_label_, exactly = module_.new_id(), merge = module_.new_id();
  code(spv::OpSelectionMerge, {merge, 0});
  code(spv::OpBranchConditional, {rare, exactly, merge});
  label(exactly);
  const Id slow = value(spv::OpFunctionCall, type, {routine(Routine::fma_32), a, b, c});
  code(spv::OpBranch, {merge});
  label(merge);
  code(spv::OpPhi, {type, define(inst, slot), quick, before, slow, exactly});
}

// Takes the ids of `insts` (0: none yet) away, so that they can be written out again.
std::vector<Id> Emitter::take_ids(std::span<const uint32_t> insts) {
  std::vector<Id> taken;
  for (const uint32_t inst : insts) {
    for (uint32_t slot = first_slot(); slot < end_slot(f_.insts[inst]); ++slot) {
      taken.push_back(start_[inst] == ~0u ? 0 : std::exchange(ids_[start_[inst] + slot], 0));
    }
  }
  return taken;
}

// The ids that phis in front want are copies.
void Emitter::give_ids(std::span<const uint32_t> insts, std::span<const Id> made, std::span<const Id> wanted) {
  size_t n = 0;
  for (const uint32_t inst : insts) {
    const ir::Inst& i = f_.insts[inst];
    for (uint32_t slot = first_slot(); slot < end_slot(i); ++slot, ++n) {
      if (wanted[n]) code(spv::OpCopyObject, {module_.type(i.type), wanted[n], made[n]});
      ids_[start_[inst] + slot] = wanted[n] ? wanted[n] : made[n];
    }
  }
}

void Emitter::emit_fused_run(const FusedRun& run) {
  const std::vector<Id> wanted = take_ids(run.dependents);  // by phis in front
  LookedAt all;
  quick_ = &all;
  emit_body(run.all);
  quick_ = nullptr;
  const std::vector<Id> quick = take_ids(run.dependents);
  const Id rare = may_be_rare(all);
  if (rare == 0) return give_ids(run.dependents, quick, wanted);
  const Id before = current_label_, exactly = module_.new_id(), merge = module_.new_id();
  code(spv::OpSelectionMerge, {merge, 0});
  code(spv::OpBranchConditional, {rare, exactly, merge});
  label(exactly);
  for (const uint32_t inst : run.dependents) emit_inst(inst);
  const std::vector<Id> slow = take_ids(run.dependents);
  const Id behind = current_label_;
  code(spv::OpBranch, {merge});
  label(merge);
  size_t n = 0;
  for (const uint32_t inst : run.dependents) {
    const ir::Inst& i = f_.insts[inst];
    for (uint32_t slot = first_slot(); slot < end_slot(i); ++slot, ++n) {
      Id& result = ids_[start_[inst] + slot];
      result = wanted[n];
      if (!fused_runs_->leaves(run, inst)) continue;
      if (!result) result = module_.new_id();
      code(spv::OpPhi, {module_.type(i.type), result, quick[n], before, slow[n], behind});
    }
  }
}

}  // namespace orrery::shader::spirv
