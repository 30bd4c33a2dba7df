// Constructs that each slot of an invocation goes through by itself, one after the other: the same blocks once for
// each, branching on that slot's lane.
#include <algorithm>

#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::spirv {

using ir::Apart;
using ir::Op;

void Emitter::emit_blocks() {
  auto next = f_.apart.begin();
  for (uint32_t b = 0; b < f_.blocks.size(); ++b) {
    if (next != f_.apart.end() && next->first == b) {
      emit_apart(*next);
      b = next++->last;
    } else {
      emit_block(b);
    }
  }
}

void Emitter::emit_apart(const Apart& apart) {
  const Id join = block_label_[apart.join];
  const ir::Value guard = std::exchange(apart_guard_, {});
  // Open, and without its end: the selection's head, or the block in front of a guarded loop.
  Id past = current_label_;
  joined_numbers_.clear();
  for (uint32_t slot = 0; slot < k_; ++slot) {
    const bool last = slot + 1 == k_;
    for (uint32_t b = apart.first; slot > 0 && b <= apart.last; ++b) block_label_[b] = module_.new_id();
    block_label_[apart.join] = last ? join : module_.new_id();
    lone_slot_ = slot;
    const size_t first_later = later_.size();
    Id merge = 0;
    if (!apart.loop) {
      emit_terminator(apart.head);
    } else if (guard) {
      merge = module_.new_id();
      way_in_ = module_.new_id();
      code(spv::OpSelectionMerge, {merge, 0});
      code(spv::OpBranchConditional, {id(guard, slot), way_in_, merge});
      label(way_in_);
      code(spv::OpBranch, {block_label_[apart.first]});
    } else if (slot > 0) {
      way_in_ = past;
      code(spv::OpBranch, {block_label_[apart.first]});
    }
    for (uint32_t b = apart.first; b <= apart.last; ++b) {
      emit_block(b);
      if (b == apart.first) way_in_ = 0;
    }
    for (size_t n = first_later; n < later_.size(); ++n) main_[later_[n].at] = exit_label_[later_[n].block];
    later_.resize(first_later);
    lone_slot_ = kNoSlot;
    if (last) {
      way_past_ = past;
      if (guard) guards_.push_back({past, merge, 0});
      break;
    }
    label(block_label_[apart.join]);
    if (!apart.loop) emit_join_phis(apart, slot, past);
    if (guard) {
      left_guard_ = {past, merge, current_label_};
      code(spv::OpBranch, {merge});
      label(merge);
      emit_lane_joins(apart, slot, past);
    }
    past = current_label_;
  }
}

// A number stays one: what the slots that went in made of it (others never look at it).
void Emitter::emit_join_phis(const Apart& apart, uint32_t slot, Id past) {
  const ir::Block& b = f_.blocks[apart.join];
  for (const uint32_t phi : b.phis) {
    const ir::Inst& i = f_.insts[phi];
    const bool last = slot + 1 == k_;
    const auto before = std::ranges::find(joined_numbers_, phi, &std::pair<uint32_t, Id>::first);
    const Id number = before == joined_numbers_.end() ? 0 : before->second;
    const Id result = i.per_lane ? define(phi, slot) : last ? define(phi, 0) : module_.new_id();
    Words words{module_.type(i.type), result};
    for (uint32_t n = 0; n < i.count; ++n) {
      const bool skips = b.predecessors[n] == apart.skip;
      const ir::Value operand = f_.operands[i.first + n];
      words.push_back(skips && !i.per_lane && number ? number : id(operand, slot));
      words.push_back(b.predecessors[n] == apart.head ? past : exit_label_[b.predecessors[n]]);
    }
    put(*code_, spv::OpPhi, {}, words);
    if (i.per_lane) continue;
    if (before == joined_numbers_.end())
      joined_numbers_.emplace_back(phi, result);
    else
      before->second = result;
  }
}

void Emitter::emit_lane_joins(const Apart& apart, uint32_t slot, Id past) {
  for (const uint32_t id_of : f_.blocks[apart.join].body) {
    const ir::Inst& i = f_.insts[id_of];
    if (i.op == Op::lane_endif) continue;
    if (i.op != Op::lane_join) return;
    code(spv::OpPhi, {module_.type(i.type), define(id_of, slot), id(f_.args(i)[0], slot), left_guard_.end,
                      id(f_.args(i)[1], slot), past});
  }
}

}  // namespace orrery::shader::spirv
