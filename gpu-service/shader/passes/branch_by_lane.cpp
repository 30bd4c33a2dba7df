// Votes become branches on the lane's own bit, where lanes may part: one that is off in a construct does nothing in it,
// and sees behind it what it saw in front. A vote that stays inside keeps all constructs around it together. An
// invocation with several lanes takes such a construct once for each.
#include <algorithm>

#include "gpu-service/shader/passes/bystander.hpp"
#include "gpu-service/shader/passes/liveness.hpp"
#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using cfg::TerminatorKind;
using ir::Inst;
using ir::Op;
using ir::Value;

namespace {

constexpr int kImplied = 4;

class Brancher {
 public:
  Brancher(ir::Function& f, const Constructs& constructs, bool alone)
      : f_(f),
        alone_(alone),
        c_(constructs),
        live_(live_values(f)),
        users_(f, live_),
        idle_(find_idle_lanes(f, c_, live_, users_)),
        failed_(c_.all.size()),
        by_lane_(f.blocks.size()),
        bystander_(f, live_, users_, by_lane_) {}

  bool run() {
    do decide();
    while (withdraw());
    if (!alone_) set_apart();
    for (const auto& [loop, mask] : guarded_) guard(c_.all[loop], mask);
    bool any = false;
    for (uint32_t n = 0; n < f_.blocks.size(); ++n) {
      if (!by_lane_[n]) continue;
      ask_each_lane(n);
      any = true;
    }
    return any;
  }

 private:
  void decide() {
    std::ranges::fill(by_lane_, 0);
    guarded_.clear();
    std::vector<Value> known;
    std::vector<std::pair<uint32_t, size_t>>
        around;  // constructs around this one, and how much was known in front of each
    for (uint32_t n = 1; n < c_.all.size(); ++n) {
      const Construct& c = c_.all[n];
      while (!around.empty() && around.back().first != c.parent) {
        known.resize(around.back().second);
        around.pop_back();
      }
      around.emplace_back(n, known.size());
      if (failed_[n]) continue;
      if (c.kind == Construct::Kind::selection) {
        if (!selection(n, known)) continue;
        by_lane_[c.head] = 1;
        known.push_back(c.lanes);
      } else {
        loop(n, known);
      }
    }
  }

  bool selection(uint32_t n, std::span<const Value> known) {
    const Construct& c = c_.all[n];
    const IdleVerdict& verdict = idle_.verdicts[n];
    if (verdict.blocked || !verdict.harmless) return false;
    std::vector<uint32_t> missed;
    for (const uint32_t phi : f_.blocks[c.join].phis)
      if (live_[phi] && !idle_.clean[phi]) missed.push_back(phi);
    return missed.empty() || !bystander_.looks(c, missed, known);
  }

  Value plain(Value v) const {
    while (f_.at(v).op == Op::bitcast || f_.at(v).op == Op::copy) v = f_.args(v)[0];
    return v;
  }
  // What a header's phi becomes in the next round.
  Value next(uint32_t phi, const Construct& loop) const { return plain(f_.args(Value{phi})[loop.back]); }

  // The only way out is a vote at the loop's end.
  std::optional<Vote> only_exit(const Construct& c) const {
    uint32_t exit = ~0u;
    for (uint32_t b = c.first; b <= c.last; ++b) {
      for (const uint32_t t : f_.graph->blocks[b].targets) {
        if (c.holds(t)) continue;
        if (exit != ~0u) return std::nullopt;
        exit = b;
      }
    }
    if (exit == ~0u) return std::nullopt;
    const auto vote = vote_of(f_, exit);
    if (!vote || vote->past != c.join || f_.blocks[c.join].predecessors.size() != 1) return std::nullopt;
    for (uint32_t b = vote->to; b != c.head; b = f_.graph->blocks[b].targets[0]) {
      const bool plain_way =
          b > exit && f_.graph->blocks[b].terminator == TerminatorKind::jump && f_.blocks[b].predecessors.size() == 1;
      if (!plain_way || !std::ranges::all_of(f_.blocks[b].body, [&](uint32_t id) {
            return ir::traits_of(f_.insts[id].op) <= ir::Traits::commutes;
          })) {
        return std::nullopt;
      }
    }
    return vote;
  }
  uint32_t exit_block(const Construct& c) const { return f_.blocks[c.join].predecessors[0]; }

  void loop(uint32_t n, std::vector<Value>& known) {
    const Construct& c = c_.all[n];
    const IdleVerdict& verdict = idle_.verdicts[n];
    if (verdict.blocked || !verdict.harmless) return;
    const auto vote = only_exit(c);
    if (!vote) return;
    const auto off_with_vote = [&](Value v) { return ir::implies(f_, plain(v), vote->lanes, kImplied); };
    // From the round on that a lane leaves after, it rests.
    uint32_t mask = ~0u;  // holds for all who are in the loop, if for all who come to it
    for (const uint32_t phi : verdict.resting) {
      const Value back = next(phi, c);
      if (!off_with_vote(back)) return;
      if (ir::implies(f_, vote->lanes, back, kImplied)) mask = phi;
    }
    for (const auto& [value, seen] : verdict.leaving) {
      if (value == vote->lanes.id && seen != kFalse) return;
      if (seen == kFalse && off_with_vote({value})) continue;
      if (seen == kFalse || seen == kTrue) return;
      const Inst& inst = f_.insts[seen];
      const bool phi = inst.op == Op::phi && inst.block == c.head;
      if (phi ? next(seen, c) != plain({value}) : plain({value}).id != plain({seen}).id) return;
      if (!phi && inst.block != ~0u && c.holds(inst.block)) return;
    }
    by_lane_[exit_block(c)] = 1;
    if (mask == ~0u) return;
    const Value entry = f_.args(Value{mask})[c.entry];
    if (!holds(entry, known)) {
      const uint32_t from = f_.blocks[c.head].predecessors[c.entry];
      if (f_.graph->blocks[from].terminator != TerminatorKind::jump) return;
      guarded_.emplace_back(n, mask);
    }
    for (const uint32_t phi : verdict.resting) {
      const Value begins = f_.args(Value{phi})[c.entry];
      if (ir::implies(f_, vote->lanes, next(phi, c), kImplied) &&
          (ir::implies(f_, entry, begins, kImplied) || holds(begins, known))) {
        known.push_back({phi});
      }
    }
  }
  bool holds(Value v, std::span<const Value> known) const {
    const Inst& inst = f_.at(v);
    if (inst.op == Op::constant) return inst.imm != 0;
    return std::ranges::any_of(known, [&](Value k) { return ir::implies(f_, k, v, kImplied); });
  }

  // Constructs with a vote left inside stay together.
  bool withdraw() {
    bool fewer = false;
    for (uint32_t b = 0; b < f_.blocks.size(); ++b) {
      if (by_lane_[b] || !vote_of(f_, b)) continue;
      for (uint32_t c = c_.owner[b]; c != 0; c = c_.all[c].parent) {
        if (failed_[c]) break;
        failed_[c] = 1;
        fewer = true;
      }
    }
    return fewer;
  }

  // Several lanes an invocation go through a construct one after the other. That pays where they would go different
  // ways in loops; elsewhere they had better go together, so that their accesses overlap.
  void set_apart() {
    std::vector<uint8_t> kept(f_.blocks.size());
    std::vector<std::pair<uint32_t, uint32_t>> guarded;
    uint32_t end = 0;  // of the last one set apart
    for (uint32_t n = 1; n < c_.all.size(); ++n) {
      const Construct& c = c_.all[n];
      const bool loop = c.kind == Construct::Kind::loop;
      const bool endless = loop && f_.blocks[c.join].predecessors.empty();
      if (c.first < end || endless || !by_lane_[loop ? exit_block(c) : c.head]) continue;
      if (!loop && !holds_loop(n)) continue;
      if (only_loads(c)) continue;
      end = c.last + 1;
      f_.apart.push_back(
          {.loop = loop, .first = c.first, .last = c.last, .head = c.head, .skip = c.skip, .join = c.join});
      if (!loop) kept[c.head] = 1;
      for (uint32_t b = c.first; b <= c.last; ++b) {
        kept[b] = by_lane_[b];
        for (const auto* list : {&f_.blocks[b].phis, &f_.blocks[b].body})
          for (const uint32_t id : *list) f_.insts[id].per_lane = true;
      }
      for (const auto& one : guarded_)
        if (one.first == n || c.holds(c_.all[one.first].head)) guarded.push_back(one);
    }
    by_lane_ = std::move(kept);
    guarded_ = std::move(guarded);
  }
  // Rounds without branches that load and do nothing else to memory: lanes go the same way, and their loads overlap.
  bool only_loads(const Construct& c) const {
    bool loads = false;
    uint32_t exit = ~0u;  // of the loop at hand
    for (uint32_t b = c.first; b <= c.last; ++b) {
      const cfg::StructuredBlock& shape = f_.graph->blocks[b];
      if (shape.merge == cfg::MergeKind::loop) exit = shape.merge_block;
      if (shape.merge == cfg::MergeKind::selection && std::ranges::find(shape.targets, exit) == shape.targets.end()) {
        return false;
      }
      for (const uint32_t id : f_.blocks[b].body) {
        const Op op = f_.insts[id].op;
        if (op == Op::store || op == Op::atomic) return false;
        loads |= op == Op::load && f_.insts[id].per_lane;
      }
    }
    return loads;
  }
  bool holds_loop(uint32_t n) const {
    return std::ranges::any_of(c_.all, [&](const Construct& c) {
      return c.kind == Construct::Kind::loop && c_.all[n].holds(c.head) && &c != &c_.all[n];
    });
  }

  void ask_each_lane(uint32_t block) {
    const Vote vote = *vote_of(f_, block);
    const auto& targets = f_.graph->blocks[block].targets;
    if (targets[0] == vote.to) {
      f_.blocks[block].condition = vote.lanes;
      return;
    }
    f_.blocks[block].condition = {add(Op::inot, ir::Type::b1, {vote.lanes}, block)};
    f_.blocks[block].body.push_back(f_.blocks[block].condition.id);
  }

  uint32_t add(Op op, ir::Type type, std::initializer_list<Value> args, uint32_t block) {
    f_.insts.push_back({.op = op,
                        .type = type,
                        .per_lane = true,
                        .count = static_cast<uint32_t>(args.size()),
                        .first = static_cast<uint32_t>(f_.operands.size()),
                        .block = block});
    f_.operands.insert(f_.operands.end(), args);
    return static_cast<uint32_t>(f_.insts.size() - 1);
  }

  // The loop is for lanes that come to it with the mask set alone; behind it others have what they had.
  void guard(const Construct& c, uint32_t mask) {
    const Value lanes = f_.args(Value{mask})[c.entry];
    const uint32_t from = f_.blocks[c.head].predecessors[c.entry];
    f_.blocks[from].body.push_back(add(Op::lane_if, ir::Type::none, {lanes}, from));
    std::vector<uint32_t> joins{add(Op::lane_endif, ir::Type::none, {}, c.join)};
    std::vector<std::pair<Value, Value>> replaced;
    for (const auto& [value, seen] : idle_.verdicts[&c - c_.all.data()].leaving) {
      Value other = plain({value});
      if (seen == kFalse) {
        other = false_constant();
      } else if (f_.insts[seen].op == Op::phi && f_.insts[seen].block == c.head) {
        other = f_.args(Value{seen})[c.entry];
      }
      const ir::Type type = f_.insts[value].type;
      if (f_.type(other) != type) {
        const uint32_t cast = add(Op::bitcast, type, {other}, from);
        auto& body = f_.blocks[from].body;
        body.insert(body.end() - 1, cast);
        other = {cast};
      }
      joins.push_back(add(Op::lane_join, type, {{value}, other}, c.join));
      replaced.emplace_back(Value{value}, Value{joins.back()});
    }
    replace_behind(c, replaced);
    auto& body = f_.blocks[c.join].body;
    body.insert(body.begin(), joins.begin(), joins.end());
  }
  Value false_constant() {
    for (uint32_t id = 0; id < f_.insts.size(); ++id)
      if (f_.insts[id].op == Op::constant && f_.insts[id].type == ir::Type::b1 && f_.insts[id].imm == 0) return {id};
    f_.insts.push_back({.op = Op::constant, .type = ir::Type::b1});
    return {static_cast<uint32_t>(f_.insts.size() - 1)};
  }
  void replace_behind(const Construct& c, const std::vector<std::pair<Value, Value>>& replaced) {
    const auto now = [&](Value& v) {
      for (const auto& [old, fresh] : replaced)
        if (v == old) {
          v = fresh;
          return;
        }
    };
    for (uint32_t n = 0; n < f_.blocks.size(); ++n) {
      if (c.holds(n)) continue;
      for (const auto* list : {&f_.blocks[n].phis, &f_.blocks[n].body})
        for (const uint32_t id : *list)
          for (uint32_t i = 0; i < f_.insts[id].count; ++i) now(f_.operands[f_.insts[id].first + i]);
      if (f_.blocks[n].condition) now(f_.blocks[n].condition);
    }
  }

  ir::Function& f_;
  const bool alone_;
  const Constructs& c_;
  const std::vector<uint8_t> live_;
  const Users users_;
  const IdleLanes idle_;
  std::vector<uint8_t> failed_;
  std::vector<uint8_t> by_lane_;
  Bystander bystander_;
  std::vector<std::pair<uint32_t, uint32_t>> guarded_;  // loops, and the header's mask that lanes need to enter
};

}  // namespace

bool branch_by_lane(ir::Function& f, bool alone) {
  const auto constructs = find_constructs(f);
  return constructs && constructs->all.size() > 1 && Brancher(f, *constructs, alone).run();
}

}  // namespace orrery::shader::passes
