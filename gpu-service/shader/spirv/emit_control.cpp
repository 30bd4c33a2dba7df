// Blocks, phis and terminators. A loop's header holds only phis and the merge, so that what follows may split into
// several blocks.
#include <algorithm>
#include <cstddef>

#include "gpu-service/shader/spirv/conditional.hpp"
#include "gpu-service/shader/spirv/fused_run.hpp"

namespace orrery::shader::spirv {

using cfg::MergeKind;
using cfg::TerminatorKind;
using ir::Op;

void Emitter::emit_block(uint32_t block) {
  const ir::Block& b = f_.blocks[block];
  const cfg::StructuredBlock& shape = f_.graph->blocks[block];
  if (shape.terminator == TerminatorKind::jump && shape.targets.empty()) return;  // nobody comes here any more
  label(block_label_[block]);
  emit_phis(block);
  if (shape.merge == MergeKind::loop) {
    const Id body = module_.new_id();
    code(spv::OpLoopMerge, {block_label_[shape.merge_block], block_label_[shape.continue_block], 0});
    code(spv::OpBranch, {body});
    label(body);
    count_round();
  }
  emit_body(b.body);
  exit_label_[block] = current_label_;
  const bool waits = apart_guard_ || std::ranges::any_of(f_.apart, [&](const ir::Apart& a) {
                       return !a.loop && a.head == block && lone_slot_ == kNoSlot;
                     });
  if (!waits) emit_terminator(block);  // else each slot's turn writes it
}

void Emitter::emit_body(std::span<const uint32_t> body) {
  while (!body.empty()) {
    size_t done = 1;
    if (const std::span<const uint32_t> loads = adjacent_loads(body); loads.size() > 1) {
      emit_loads(loads);
      done = loads.size();
    } else if (const FusedRun run = fused_runs_ && quick_ == nullptr ? fused_runs_->at(body) : FusedRun{};
               !run.all.empty()) {
      emit_fused_run(run);
      done = run.all.size();
    } else {
      emit_inst(body[0]);
    }
    body = body.subspan(done);
  }
}

// The labels of predecessors behind this block are not known yet (their last SPIR-V block), so phis are patched when
// all are.
void Emitter::emit_phis(uint32_t block) {
  const ir::Block& b = f_.blocks[block];
  for (const ir::Apart& apart : f_.apart) {
    if (!apart.loop && apart.join == block && lone_slot_ == kNoSlot) return emit_join_phis(apart, k_ - 1, way_past_);
  }
  for (const uint32_t phi : b.phis) {
    const ir::Inst& i = f_.insts[phi];
    for (uint32_t slot = first_slot(); slot < end_slot(i); ++slot) {
      code_->push_back(((i.count * 2 + 3) << 16) | static_cast<uint32_t>(spv::OpPhi));
      code_->push_back(module_.type(i.type));
      code_->push_back(define(phi, slot));
      for (uint32_t n = 0; n < i.count; ++n) {
        code_->push_back(operand_id(phi, f_.operands[i.first + n], slot));
        const uint32_t from = b.predecessors[n];
        if (from >= block) later_.push_back({code_->size(), from});
        code_->push_back(from < block && way_in_ ? way_in_ : exit_label_[from]);
      }
    }
  }
}

// Some drivers (lavapipe) silently end an invocation's loops after so many rounds: counted, and said at the end.
void Emitter::count_round() {
  if (o_.host.loop_limit == 0) return;
  if (!loop_rounds_) loop_rounds_ = module_.variable(spv::StorageClassPrivate, uint_type());
  const Id rounds = value(spv::OpLoad, uint_type(), {loop_rounds_});
  code(spv::OpStore, {loop_rounds_, binary(spv::OpIAdd, rounds, u32(1))});
}

// What stands up to the lane_endif, and blocks between the two, is the selection's construct.
bool Emitter::emit_guard(uint32_t inst, const ir::Inst& i) {
  switch (i.op) {
    case Op::lane_if: {
      if (!alone()) {  // of a loop that each slot goes through in its turn
        apart_guard_ = f_.args(i)[0];
        return true;
      }
      const Id inside = module_.new_id(), merge = module_.new_id();
      code(spv::OpSelectionMerge, {merge, 0});
      code(spv::OpBranchConditional, {id(f_.args(i)[0], first_slot()), inside, merge});
      guards_.push_back({current_label_, merge, 0});
      label(inside);
      return true;
    }
    case Op::lane_endif: {
      left_guard_ = guards_.back();
      left_guard_.end = current_label_;
      guards_.pop_back();
      code(spv::OpBranch, {left_guard_.merge});
      label(left_guard_.merge);
      return true;
    }
    case Op::lane_join: {
      const uint32_t slot = alone() ? first_slot() : k_ - 1;
      code(spv::OpPhi, {module_.type(i.type), define(inst, slot), id(f_.args(i)[0], slot), left_guard_.end,
                        id(f_.args(i)[1], slot), left_guard_.begin});
      return true;
    }
    default:
      return false;
  }
}

void Emitter::report_rounds() {
  if (!loop_rounds_) return;
  constexpr uint32_t kMargin = 64;
  const Id rounds = value(spv::OpLoad, uint_type(), {loop_rounds_});
  const uint32_t limit = o_.host.loop_limit > kMargin ? o_.host.loop_limit - kMargin : 1;
  const Id near_limit = value(spv::OpUGreaterThanEqual, bool_type(), {rounds, u32(limit)});
  conditional(near_limit, 0, 0, [&]() -> Results {
    const Id report = push(kEscapes);
    const Id at =
        value(spv::OpIAdd, module_.type(ir::Type::u64), {report, module_.u64(offsetof(EscapeReport, loops_cut))});
    store_device(at, ir::Type::u32, u32(1));
    return {};
  });
}

Id Emitter::escape_note(uint32_t which) {
  Id& variable = escape_notes_[which];
  if (!variable) variable = module_.variable(spv::StorageClassPrivate, uint_type());
  return variable;
}

bool Emitter::reaches(ir::Space space) const {
  return std::ranges::any_of(f_.accesses, [&](const ir::Access& a) { return a.space == space; });
}

void Emitter::report_escapes() {
  if (reaches(ir::Space::image)) report_images();
  if (!reaches(ir::Space::image) && !reaches(ir::Space::guest)) return;
  code(spv::OpFunctionCall, {module_.void_type(), module_.new_id(), routine(Routine::report)});
}

void Emitter::emit_terminator(uint32_t block) {
  const ir::Block& b = f_.blocks[block];
  const cfg::StructuredBlock& shape = f_.graph->blocks[block];
  auto target = [&](size_t n) { return block_label_[shape.targets[n]]; };
  if (shape.merge == MergeKind::selection) code(spv::OpSelectionMerge, {block_label_[shape.merge_block], 0});
  switch (shape.terminator) {
    case TerminatorKind::end:
      report_rounds();
      report_escapes();
      if (pixel()) end_pixel();
      code(spv::OpReturn, {});
      break;
    case TerminatorKind::jump:
      code(spv::OpBranch, {target(0)});
      break;
    case TerminatorKind::branch: {
      ir::Value condition = b.condition;
      bool swapped = false;
      while (f_.at(condition).op == Op::inot) {
        condition = f_.args(condition)[0];
        swapped = !swapped;
      }
      code(spv::OpBranchConditional, {id(condition, first_slot()), target(swapped), target(!swapped)});
      break;
    }
    case TerminatorKind::route: {
      Words words;
      for (size_t n = 0; n < shape.values.size(); ++n) {
        words.push_back(shape.values[n]);
        words.push_back(target(n));
      }
      put(*code_, spv::OpSwitch, {id(b.condition, first_slot()), target(shape.targets.size() - 1)}, words);
      break;
    }
  }
}

}  // namespace orrery::shader::spirv
