#include "gpu-service/shader/passes/bystander.hpp"

#include <algorithm>

namespace orrery::shader::passes {

using cfg::TerminatorKind;
using ir::Op;
using ir::Value;

namespace {

constexpr uint32_t kMostVisited = 2000;  // operations looked at before it is taken that the lane looks
constexpr int kImplied = 4;
constexpr size_t kMostDown = 8;

}  // namespace

Seen Bystander::unset(Value v) {
  const ir::Inst& inst = f_.at(v);
  if (inst.type != ir::Type::b1) return v.id;
  for (const Value k : known_)
    if (ir::implies(f_, k, v, kImplied)) return kTrue;
  for (const Value down : down_) {
    if (ir::implies(f_, v, down, kImplied)) return kFalse;
    if (ir::are_opposite(f_, v, down)) return kTrue;
  }
  if (depth_ == kImplied || inst.op == Op::phi) return v.id;
  ++depth_;
  const Seen seen = evaluate(v.id);
  --depth_;
  return seen;
}

bool Bystander::looks(const Construct& selection, std::span<const uint32_t> missed, std::span<const Value> known) {
  restart();
  selection_ = &selection;
  known_ = known;
  ways_.clear();
  down_.clear();
  put_down(selection.lanes);
  farthest_ = selection.join;
  visited_ = 0;
  bool found = false;
  for (const uint32_t phi : missed) found |= miss(phi);
  const uint32_t start = selection.join;
  for (const uint32_t phi : f_.blocks[start].phis) {
    if (!live_[phi]) continue;
    const auto args = f_.args(Value{phi});
    for (size_t i = 0; i < args.size(); ++i)
      if (f_.blocks[start].predecessors[i] == selection.skip) set({phi}, see(args[i]));
  }
  reached_[start] = 1;
  for (uint32_t n = start; !found && n <= farthest_ && n < f_.blocks.size(); ++n) {
    if (!reached_[n]) continue;
    found = (n != start && enter(n)) || walk(n) || leave(n);
  }
  std::ranges::fill(reached_, 0);
  for (const uint32_t id : all_missed_) missed_[id] = 0;
  all_missed_.clear();
  return found;
}

// And what there is to blame for it.
void Bystander::put_down(Value v) {
  down_.push_back(v);
  set(v, kFalse);
  const ir::Inst& inst = f_.at(v);
  if (inst.op != Op::iand && inst.op != Op::ior) return;
  const auto args = f_.args(inst);
  for (size_t i = 0; i < 2; ++i) {
    const bool to_blame = inst.op == Op::ior || see(args[1 - i]) == kTrue;
    if (to_blame && see(args[i]) != kFalse && down_.size() < kMostDown) put_down(args[i]);
  }
}

// True: it decides a branch.
bool Bystander::miss(uint32_t id) {
  missed_[id] = 1;
  all_missed_.push_back(id);
  for (const uint32_t user : users_.of(id)) {
    const ir::Inst& inst = f_.insts[user];
    farthest_ = std::max(farthest_, inst.block);
    if (inst.op != Op::phi) continue;
    for (const uint32_t p : f_.blocks[inst.block].predecessors) farthest_ = std::max(farthest_, p);
  }
  return users_.decides[id] != 0;
}

bool Bystander::enter(uint32_t block) {
  const auto& predecessors = f_.blocks[block].predecessors;
  for (const uint32_t phi : f_.blocks[block].phis) {
    if (!live_[phi]) continue;
    const auto args = f_.args(Value{phi});
    Seen seen = phi;
    bool first = true, same = true, missed = false;
    for (size_t i = 0; i < args.size(); ++i) {
      // A way around a loop that begins behind the selection may be taken.
      const bool taken =
          predecessors[i] >= block || std::ranges::find(ways_, std::pair{predecessors[i], block}) != ways_.end();
      if (!taken) continue;
      const Seen one = predecessors[i] >= block ? phi : see(args[i]);
      same = same && (first || one == seen);
      seen = one;
      first = false;
      missed |= is_missed(args[i]);
    }
    set({phi}, same ? seen : phi);
    if (missed && miss(phi)) return true;
  }
  return false;
}

bool Bystander::walk(uint32_t block) {
  for (const uint32_t id : f_.blocks[block].body)
    if (live_[id] && visit(id)) return true;
  return false;
}

bool Bystander::clean_by_mask(const ir::Inst& inst) {
  const auto args = f_.args(inst);
  if (inst.op == Op::select) {
    if (is_missed(args[0])) return false;
    const Seen condition = see(args[0]);
    return (condition == kTrue && !is_missed(args[1])) || (condition == kFalse && !is_missed(args[2]));
  }
  if ((inst.op == Op::iand || inst.op == Op::ior) && inst.type == ir::Type::b1) {
    const Seen wins = inst.op == Op::iand ? kFalse : kTrue;
    for (size_t i = 0; i < 2; ++i)
      if (!is_missed(args[i]) && see(args[i]) == wins) return true;
    const auto part = [&](Value v) { return is_missed(v) ? v.id : see(v); };
    return inst.op == Op::iand && excludes(part(args[0]), part(args[1]));
  }
  return false;
}

bool Bystander::visit(uint32_t id) {
  if (++visited_ > kMostVisited) return true;
  const ir::Inst& inst = f_.insts[id];
  const auto args = f_.args(inst);
  set({id}, evaluate(id));
  if (std::ranges::none_of(args, [&](Value v) { return is_missed(v); }) || clean_by_mask(inst)) return false;
  switch (inst.op) {
    case Op::load:
    case Op::store:
    case Op::atomic:
      // Who is off does nothing, whatever address and data it has.
      if (is_missed(args[0]) || see(args[0]) != kFalse) return true;
      return false;
    default:
      if (ir::traits_of(inst.op) == ir::Traits::effect || ir::traits_of(inst.op) == ir::Traits::cross) return true;
      return miss(id);
  }
}

bool Bystander::leave(uint32_t block) {
  const cfg::StructuredBlock& shape = f_.graph->blocks[block];
  Seen taken = block;
  const auto vote = by_lane_[block] ? vote_of(f_, block) : std::nullopt;
  if (vote) {
    if (is_missed(vote->lanes)) return true;
    taken = see(vote->lanes);
  }
  for (const uint32_t target : shape.targets) {
    if (vote && ((taken == kFalse && target != vote->past) || (taken == kTrue && target != vote->to))) continue;
    if (target > block) {
      reached_[target] = 1;
      ways_.emplace_back(block, target);
      continue;
    }
    const auto& predecessors = f_.blocks[target].predecessors;
    for (const uint32_t phi : f_.blocks[target].phis) {
      if (!live_[phi]) continue;
      const auto args = f_.args(Value{phi});
      // A loop that begins behind the selection: its header was taken to vary, and its phi for missed if this is.
      if (reached_[target] && is_missed({phi})) continue;
      for (size_t i = 0; i < args.size(); ++i)
        if (predecessors[i] == block && is_missed(args[i])) return true;
    }
  }
  return false;
}

}  // namespace orrery::shader::passes
