// Branches whose way is known from where a lane comes: compiled code notes in masks which way was taken and asks for it
// behind the join, once for each case of a switch and at a loop's end. A lane goes on at once instead.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using cfg::MergeKind;
using cfg::TerminatorKind;
using ir::Inst;
using ir::Op;
using ir::Traits;
using ir::Type;
using ir::Value;

namespace {

constexpr size_t kMostCopied = 12;  // instructions of a block that is taken out
constexpr size_t kMostWays = 4;
constexpr int kDeepest = 16;
constexpr uint32_t kMostSteps = 500;

class Threader {
 public:
  Threader(ir::Function& f, cfg::StructuredGraph& graph, bool alone) : f_(f), graph_(graph), alone_(alone) {}

  bool run() {
    find_loops();
    for (bool again = true; again;) {
      again = false;
      for (uint32_t b = 1; b < f_.blocks.size(); ++b) again |= asks_again(b) && (around(b) || out(b));
      any_ |= again;
      if (again) fold();
    }
    return any_;
  }

 private:
  using Map = std::unordered_map<uint32_t, Value>;
  struct Ways {
    uint32_t head = 0, end = 0;  // the branch that comes straight here, the end of the other arm
    size_t at_head = 0, at_end = 0;
  };

  void find_loops() {
    loop_.assign(f_.blocks.size(), ~0u);
    for (uint32_t h = 0; h < f_.blocks.size(); ++h) {
      const cfg::StructuredBlock& shape = graph_.blocks[h];
      if (shape.merge != MergeKind::loop || shape.merge_block <= h) continue;
      std::fill(loop_.begin() + h, loop_.begin() + shape.merge_block, h);
    }
  }

  // A two-way branch in a block that only computes, where a selection's two arms meet.
  bool asks_again(uint32_t b) {
    const cfg::StructuredBlock& shape = graph_.blocks[b];
    const ir::Block& block = f_.blocks[b];
    if (shape.terminator != TerminatorKind::branch || shape.merge == MergeKind::loop) return false;
    if (block.predecessors.size() != 2 || block.body.size() > kMostCopied) return false;
    for (const uint32_t id : block.body) {
      const Op op = f_.insts[id].op;
      const Traits traits = ir::traits_of(op);
      if ((traits != Traits::pure && traits != Traits::commutes) || op == Op::lane_join || op == Op::phi) return false;
    }
    const auto is_head = [&](uint32_t p) {
      const cfg::StructuredBlock& from = graph_.blocks[p];
      return p < b && from.terminator == TerminatorKind::branch && from.merge == MergeKind::selection &&
             from.merge_block == b && from.targets[0] != from.targets[1];
    };
    const auto is_end = [&](uint32_t p) {
      return p < b && graph_.blocks[p].terminator == TerminatorKind::jump && graph_.blocks[p].merge == MergeKind::none;
    };
    for (size_t n = 0; n < 2; ++n) {
      ways_ = {block.predecessors[n], block.predecessors[1 - n], n, 1 - n};
      if (is_head(ways_.head) && is_end(ways_.end)) return allowed(ways_.head, b);
    }
    return false;
  }
  // Where an invocation has several lanes, its constructs are written down with their ends (ir::Apart).
  bool allowed(uint32_t first, uint32_t last) const {
    return alone_ ||
           std::ranges::any_of(f_.apart, [&](const ir::Apart& a) { return first >= a.first && last <= a.last; });
  }

  // --- what a condition is, for a lane that comes by a certain way ---
  struct Way {
    uint32_t block;
    size_t n;
  };
  struct Fact {
    Value condition;
    bool holds = false;
  };
  std::optional<bool> known(Value v, int depth) {
    const Inst& inst = f_.at(v);
    if (inst.type != Type::b1 || depth == 0 || ++steps_ > kMostSteps) return std::nullopt;
    if (inst.op == Op::constant) return inst.imm != 0;
    for (const Fact& fact : facts_) {
      if (v == fact.condition) return fact.holds;
      if (ir::are_opposite(f_, v, fact.condition)) return !fact.holds;
    }
    const auto args = f_.args(inst);
    switch (inst.op) {
      case Op::copy:
        return known(args[0], depth - 1);
      case Op::inot: {
        const auto inner = known(args[0], depth - 1);
        return inner ? std::optional(!*inner) : std::nullopt;
      }
      case Op::iand:
      case Op::ior: {
        const bool wins = inst.op == Op::ior;
        if (ir::are_opposite(f_, args[0], args[1])) return wins;
        const auto a = known(args[0], depth - 1), b = known(args[1], depth - 1);
        if ((a && *a == wins) || (b && *b == wins)) return wins;
        if (a && b) return !wins;
        return on_all_ways(v, join_behind(v, 3), depth);
      }
      case Op::phi: {
        for (const Way& way : taken_)
          if (way.block == inst.block) return known(args[way.n], depth - 1);
        return on_all_ways(v, inst.block, depth);
      }
      default:
        return std::nullopt;
    }
  }
  // A join whose phis v is made of, and that no way was taken to yet. A loop's header has other values each round.
  uint32_t join_behind(Value v, int depth) const {
    const Inst& inst = f_.at(v);
    if (inst.op == Op::phi && std::ranges::find(taken_, inst.block, &Way::block) == taken_.end()) return inst.block;
    if (depth == 0 || (inst.op != Op::iand && inst.op != Op::ior && inst.op != Op::inot)) return ~0u;
    for (const Value part : f_.args(inst))
      if (const uint32_t found = join_behind(part, depth - 1); found != ~0u) return found;
    return ~0u;
  }
  std::optional<bool> on_all_ways(Value v, uint32_t join, int depth) {
    if (join == ~0u) return std::nullopt;
    const auto& ways = f_.blocks[join].predecessors;
    if (ways.size() > kMostWays || std::ranges::any_of(ways, [&](uint32_t p) { return p >= join; }))
      return std::nullopt;
    std::optional<bool> all;
    for (size_t n = 0; n < ways.size(); ++n) {
      const size_t before = facts_.size();
      taken_.push_back({join, n});
      learn_from_branch(ways[n], join);
      const auto one = known(v, depth - 1);
      facts_.resize(before);
      taken_.pop_back();
      if (!one || (all && *all != *one)) return std::nullopt;
      all = one;
    }
    return all;
  }
  void learn_from_branch(uint32_t from, uint32_t to) {
    const cfg::StructuredBlock& shape = graph_.blocks[from];
    if (shape.terminator != TerminatorKind::branch || shape.targets[0] == shape.targets[1]) return;
    learn(f_.blocks[from].condition, shape.targets[0] == to, kDeepest);
  }
  void learn(Value v, bool holds, int depth) {
    const Inst& inst = f_.at(v);
    facts_.push_back({v, holds});
    if (depth == 0 || inst.type != Type::b1) return;
    if (inst.op == Op::inot) learn(f_.args(inst)[0], !holds, depth - 1);
    if (inst.op == (holds ? Op::iand : Op::ior))
      for (const Value part : f_.args(inst)) learn(part, holds, depth - 1);
  }
  // Where `b` leads who comes by this way.
  std::optional<uint32_t> leads_to(uint32_t b, uint32_t from, size_t n) {
    steps_ = 0;
    taken_.assign(1, {b, n});
    facts_.clear();
    learn_from_branch(from, b);
    const auto holds = known(f_.blocks[b].condition, kDeepest);
    if (!holds) return std::nullopt;
    return graph_.blocks[b].targets[*holds ? 0 : 1];
  }

  // --- what came out the same on all ways is no question any more ---
  Value constant(bool holds) {
    Value& v = constants_[holds];
    if (v) return v;
    v = {static_cast<uint32_t>(f_.insts.size())};
    f_.insts.push_back({.op = Op::constant, .type = Type::b1, .imm = holds});
    return v;
  }
  Value resolve(Value v) const {
    while (f_.at(v).op == Op::copy) v = f_.args(v)[0];
    return v;
  }
  std::optional<Value> simpler(uint32_t id) {
    const Inst& inst = f_.insts[id];
    const auto args = f_.args(inst);
    const auto is = [&](Value v, bool holds) { return f_.at(v).op == Op::constant && (f_.at(v).imm != 0) == holds; };
    if (inst.op == Op::phi && inst.count == 1) return args[0];
    if (inst.op == Op::select && is(args[0], true)) return args[1];
    if (inst.op == Op::select && is(args[0], false)) return args[2];
    if (inst.type != Type::b1) return std::nullopt;
    if (inst.op != Op::iand && inst.op != Op::ior && inst.op != Op::inot && inst.op != Op::phi) return std::nullopt;
    for (size_t n = 0; inst.count == 2 && inst.op != Op::phi && n < 2; ++n)
      if (is(args[n], inst.op == Op::iand)) return args[1 - n];
    steps_ = 0;
    taken_.clear();
    facts_.clear();
    const auto holds = known({id}, kDeepest);
    return holds ? std::optional(constant(*holds)) : std::nullopt;
  }
  void fold() {
    for (ir::Block& block : f_.blocks) {
      for (auto* const list : {&block.phis, &block.body}) {
        for (const uint32_t id : *list) {
          for (uint32_t i = 0; i < f_.insts[id].count; ++i) {
            Value& v = f_.operands[f_.insts[id].first + i];
            v = resolve(v);
          }
          const auto to = simpler(id);
          if (!to) continue;
          const auto first = static_cast<uint32_t>(f_.operands.size());
          f_.operands.push_back(*to);
          Inst& inst = f_.insts[id];
          inst.op = Op::copy;
          inst.count = 1;
          inst.first = first;
        }
        std::erase_if(*list, [&](uint32_t id) { return f_.insts[id].op == Op::copy; });
      }
      if (block.condition) block.condition = resolve(block.condition);
    }
    for (const ir::Block& block : f_.blocks)  // around loops
      for (const uint32_t phi : block.phis)
        for (uint32_t i = 0; i < f_.insts[phi].count; ++i) {
          Value& v = f_.operands[f_.insts[phi].first + i];
          v = resolve(v);
        }
  }

  // --- if (c) {...} if (!c) {...}: one selection with two arms, or with one longer arm ---
  bool around(uint32_t b) {
    if (graph_.blocks[b].merge != MergeKind::selection) return false;
    const uint32_t join = graph_.blocks[b].merge_block;
    const auto& targets = graph_.blocks[b].targets;
    if (targets[0] != join && targets[1] != join) return false;
    const uint32_t arm = targets[targets[0] == join ? 1 : 0];
    if (arm <= b || join <= arm || f_.blocks[arm].predecessors.size() != 1 || !allowed(ways_.head, join)) return false;
    if (!encloses(b, join)) return false;
    const Ways ways = ways_;
    const auto straight = leads_to(b, ways.head, ways.at_head), behind = leads_to(b, ways.end, ways.at_end);
    if (!straight || !behind || *straight == *behind) return false;
    const bool enters = *straight == arm;  // who comes straight goes into the second arm
    const uint32_t into = enters ? ways.head : ways.end, past = enters ? ways.end : ways.head;
    const size_t at_into = enters ? ways.at_head : ways.at_end, at_past = enters ? ways.at_end : ways.at_head;

    Map inner = values_on(b, at_into), outer = values_on(b, at_past);
    std::vector<uint32_t> copies;
    copy_body(b, arm, inner, copies);
    auto& body = f_.blocks[arm].body;
    body.insert(body.begin(), copies.begin(), copies.end());
    copies.clear();
    copy_body(b, past, outer, copies);
    f_.blocks[past].body.insert(f_.blocks[past].body.end(), copies.begin(), copies.end());

    ir::Block& to = f_.blocks[join];
    Map both;
    for (const auto& [id, value] : inner)
      both[id] = add_phi(join, id, [&](uint32_t p) { return p == b ? outer.at(id) : value; });
    rewrite(
        [&](uint32_t place) -> const Map* {
          if (place == b) return &outer;  // the join's phis
          if (place < b) return nullptr;
          return place < join ? &inner : &both;
        },
        to);
    std::ranges::replace(f_.blocks[arm].predecessors, b, into);
    std::ranges::replace(to.predecessors, b, past);
    cfg::StructuredBlock& head = graph_.blocks[ways.head];
    std::ranges::replace(head.targets, b, enters ? arm : join);
    head.merge_block = join;
    graph_.blocks[ways.end].targets[0] = enters ? join : arm;
    drop(b);
    return true;
  }
  // All ways into the blocks between lead through `b`, and out of them to the join.
  bool encloses(uint32_t b, uint32_t join) const {
    for (uint32_t n = b + 1; n <= join; ++n) {
      for (const uint32_t p : f_.blocks[n].predecessors)
        if (p < b || p >= join) return false;
      if (n == join) break;
      for (const uint32_t t : graph_.blocks[n].targets)
        if (t <= b || t > join) return false;
    }
    return true;
  }

  // --- if (leave) ... else {...} if (leave) break: the break comes first ---
  bool out(uint32_t b) {
    if (loop_[b] == ~0u) return false;
    const Ways ways = ways_;
    const uint32_t exit = graph_.blocks[loop_[b]].merge_block;
    if (loop_[ways.head] != loop_[b] || exit <= b || !allowed(ways.head, exit)) return false;
    const auto& targets = graph_.blocks[b].targets;
    if (targets[0] != exit && targets[1] != exit) return false;
    cfg::StructuredBlock& head = graph_.blocks[ways.head];
    const uint32_t stays = head.targets[head.targets[0] == b ? 1 : 0];
    if (stays <= ways.head || loop_[stays] != loop_[b] || f_.blocks[stays].predecessors.size() != 1) return false;
    if (stays == graph_.blocks[loop_[b]].continue_block) return false;
    if (std::ranges::any_of(f_.apart, [&](const ir::Apart& a) { return a.loop && a.join == exit; })) return false;
    if (leads_to(b, ways.head, ways.at_head) != exit) return false;

    Map early = values_on(b, ways.at_head);
    std::vector<uint32_t> copies;
    copy_body(b, ways.head, early, copies);
    f_.blocks[ways.head].body.insert(f_.blocks[ways.head].body.end(), copies.begin(), copies.end());
    ir::Block& to = f_.blocks[exit];
    Map late;
    const auto from_b = static_cast<size_t>(std::ranges::find(to.predecessors, b) - to.predecessors.begin());
    to.predecessors.push_back(ways.head);
    for (const uint32_t phi : to.phis) {
      const Value v = f_.operands[f_.insts[phi].first + from_b];
      const auto found = early.find(v.id);
      widen(phi, found == early.end() ? v : found->second);
    }
    // Where all other ways out lie behind `b`, its values were seen outside; else nobody asks for these phis.
    for (const auto& [id, value] : early)
      late[id] = add_phi(exit, id, [&](uint32_t p) { return p == ways.head ? value : Value{id}; });
    const uint32_t first = loop_[b];
    rewrite([&](uint32_t place) -> const Map* { return place >= first && place < exit ? nullptr : &late; }, to);
    std::ranges::replace(head.targets, b, exit);
    head.merge_block = stays;
    // One way is left.
    ir::Block& block = f_.blocks[b];
    block.predecessors.assign(1, ways.end);
    for (const uint32_t phi : block.phis) {
      f_.insts[phi].first += static_cast<uint32_t>(ways.at_end);
      f_.insts[phi].count = 1;
    }
    return true;
  }

  // --- values ---
  Map values_on(uint32_t b, size_t n) const {
    Map map;
    for (const uint32_t phi : f_.blocks[b].phis) map[phi] = f_.operands[f_.insts[phi].first + n];
    return map;
  }
  void copy_body(uint32_t b, uint32_t into, Map& map, std::vector<uint32_t>& copies) {
    for (const uint32_t id : f_.blocks[b].body) {
      Inst inst = f_.insts[id];
      const std::vector<Value> args(f_.args(inst).begin(), f_.args(inst).end());
      inst.first = static_cast<uint32_t>(f_.operands.size());
      inst.block = into;
      for (const Value v : args) {
        const auto found = map.find(v.id);
        f_.operands.push_back(found == map.end() ? v : found->second);
      }
      map[id] = {static_cast<uint32_t>(f_.insts.size())};
      copies.push_back(static_cast<uint32_t>(f_.insts.size()));
      f_.insts.push_back(inst);
    }
  }
  template <class Operand>
  Value add_phi(uint32_t block, uint32_t of, Operand operand) {
    const ir::Block& to = f_.blocks[block];
    Inst phi{.op = Op::phi,
             .type = f_.insts[of].type,
             .per_lane = true,
             .count = static_cast<uint32_t>(to.predecessors.size()),
             .first = static_cast<uint32_t>(f_.operands.size()),
             .block = block};
    for (const uint32_t p : to.predecessors) f_.operands.push_back(operand(p));
    f_.insts.push_back(phi);
    const auto id = static_cast<uint32_t>(f_.insts.size() - 1);
    new_phis_.push_back(id);
    return {id};
  }
  void widen(uint32_t phi, Value more) {
    Inst& inst = f_.insts[phi];
    const std::vector<Value> args(f_.args(inst).begin(), f_.args(inst).end());
    inst.first = static_cast<uint32_t>(f_.operands.size());
    ++inst.count;
    f_.operands.insert(f_.operands.end(), args.begin(), args.end());
    f_.operands.push_back(more);
  }
  // Every use, by the block that it stands in; a phi's use stands in the predecessor.
  template <class Maps>
  void rewrite(Maps map_at, ir::Block& phis_into) {
    const auto change = [&](Value& v, uint32_t place) {
      const Map* map = map_at(place);
      if (!map) return;
      if (const auto found = map->find(v.id); found != map->end()) v = found->second;
    };
    for (uint32_t n = 0; n < f_.blocks.size(); ++n) {
      ir::Block& block = f_.blocks[n];
      for (const uint32_t phi : block.phis)
        for (uint32_t i = 0; i < f_.insts[phi].count; ++i)
          change(f_.operands[f_.insts[phi].first + i], block.predecessors[i]);
      for (const uint32_t id : block.body)
        for (uint32_t i = 0; i < f_.insts[id].count; ++i) change(f_.operands[f_.insts[id].first + i], n);
      if (block.condition) change(block.condition, n);
    }
    phis_into.phis.insert(phis_into.phis.end(), new_phis_.begin(), new_phis_.end());
    new_phis_.clear();
  }
  void drop(uint32_t b) {
    f_.blocks[b] = {};
    graph_.blocks[b] = {};
    graph_.blocks[b].terminator = TerminatorKind::jump;  // nowhere
  }

  ir::Function& f_;
  cfg::StructuredGraph& graph_;
  const bool alone_;
  std::vector<uint32_t> loop_, new_phis_;
  Ways ways_;
  std::vector<Way> taken_;
  std::vector<Fact> facts_;
  uint32_t steps_ = 0;
  Value constants_[2];
  bool any_ = false;
};

}  // namespace

bool thread_branches(ir::Function& f, cfg::StructuredGraph& graph, bool alone) {
  return Threader(f, graph, alone).run();
}

}  // namespace orrery::shader::passes
