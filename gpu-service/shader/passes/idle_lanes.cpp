// From the inside out, so that what is harmless is looked at once: who encloses it steps over it.
#include "gpu-service/shader/passes/idle_lanes.hpp"

#include <algorithm>

namespace orrery::shader::passes {

using cfg::TerminatorKind;
using ir::Op;
using ir::Value;

Users::Users(const ir::Function& f, const std::vector<uint8_t>& live)
    : decides(f.insts.size()), first_(f.insts.size() + 1) {
  const auto each = [&](auto use) {
    for (const ir::Block& block : f.blocks) {
      for (const uint32_t id : block.phis)
        if (live[id])
          for (const Value v : f.args(Value{id})) use(v.id, id);
      for (const uint32_t id : block.body)
        if (live[id])
          for (const Value v : f.args(Value{id})) use(v.id, id);
    }
  };
  each([&](uint32_t value, uint32_t) { ++first_[value + 1]; });
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  user_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  each([&](uint32_t value, uint32_t user) { user_[next[value]++] = user; });
  for (const ir::Block& block : f.blocks)
    if (block.condition) decides[block.condition.id] = 1;
}

namespace {

constexpr int kImplied = 3;  // operations looked back over for what a mask is part of

class Finder : LaneView {
 public:
  Finder(const ir::Function& f, const Constructs& constructs, const std::vector<uint8_t>& live, const Users& users)
      : LaneView(f),
        c_(constructs),
        live_(live),
        users_(users),
        used_behind_(constructs.all.size()),
        varies_(f.insts.size()) {
    out_.verdicts.resize(c_.all.size());
    out_.clean.resize(f.insts.size());
  }

  IdleLanes run() {
    find_leaving_values();
    for (size_t n = c_.all.size(); n-- > 1;) {
      current_ = static_cast<uint32_t>(n);
      if (construct().kind == Construct::Kind::loop)
        loop();
      else
        selection();
      if (verdict().blocked) out_.verdicts[construct().parent].blocked = true;
    }
    return std::move(out_);
  }

 private:
  const Construct& construct() const { return c_.all[current_]; }
  IdleVerdict& verdict() { return out_.verdicts[current_]; }
  bool is_header(uint32_t block) const {
    const Construct& owner = c_.all[c_.owner[block]];
    return owner.kind == Construct::Kind::loop && owner.head == block;
  }

  void find_leaving_values() {
    for (uint32_t n = 0; n < f_.blocks.size(); ++n) {
      const auto look = [&](Value v) {
        const uint32_t from = f_.at(v).block;
        if (from == ~0u || from == n) return;
        for (uint32_t c = c_.owner[from]; c != 0 && !c_.all[c].holds(n); c = c_.all[c].parent) {
          if (c_.all[c].kind == Construct::Kind::loop) used_behind_[c].push_back(v.id);
        }
      };
      for (const auto* list : {&f_.blocks[n].phis, &f_.blocks[n].body})
        for (const uint32_t id : *list)
          if (live_[id])
            for (const Value v : f_.args(Value{id})) look(v);
      if (f_.blocks[n].condition) look(f_.blocks[n].condition);
      // Who leaves a loop is asked for too.
      if (const auto vote = vote_of(f_, n)) {
        const uint32_t c = c_.owner[n];
        if (c_.all[c].kind == Construct::Kind::loop && vote->past == c_.all[c].join) {
          used_behind_[c].push_back(vote->lanes.id);
        }
      }
    }
    for (auto& values : used_behind_) {
      std::ranges::sort(values);
      values.erase(std::unique(values.begin(), values.end()), values.end());
    }
  }

  Seen unset(Value v) override {
    const ir::Inst& inst = f_.at(v);
    if (construct().holds(inst.block)) return out_of_child(v, inst.block);
    const bool mask = construct().lanes && inst.type == ir::Type::b1 && inst.per_lane;
    return mask && ir::implies(f_, v, construct().lanes, kImplied) ? kFalse : v.id;
  }

  // A value from inside a loop that was stepped over.
  Seen out_of_child(Value v, uint32_t block) {
    uint32_t child = c_.owner[block];
    if (child == current_) return v.id;
    while (c_.all[child].parent != current_) child = c_.all[child].parent;
    for (const auto& [value, seen] : out_.verdicts[child].leaving) {
      if (value != v.id) continue;
      if (seen == kFalse || seen == kTrue) return seen;
      const ir::Inst& inst = f_.insts[seen];
      const Construct& loop = c_.all[child];
      if (inst.op == Op::phi && inst.block == loop.head) return see(f_.args(inst)[loop.entry]);
      return inst.block != ~0u && loop.holds(inst.block) ? v.id : see({seen});
    }
    return v.id;
  }

  void selection() {
    if (!construct().closed) verdict().blocked = true;
    if (verdict().blocked) return;
    settle();
    if (!verdict().harmless) return;
    const ir::Block& join = f_.blocks[construct().join];
    for (const uint32_t phi : join.phis) {
      if (!live_[phi]) continue;
      const auto args = f_.args(Value{phi});
      Seen past = 0;
      for (size_t i = 0; i < args.size(); ++i)
        if (join.predecessors[i] == construct().skip) past = see(args[i]);
      bool same = true;
      for (const Value v : args) same = same && see(v) == past;
      out_.clean[phi] = same;
    }
  }

  void loop() {
    const ir::Block& header = f_.blocks[construct().head];
    if (!construct().closed) verdict().blocked = true;
    if (verdict().blocked) return;
    const std::optional<Vote> exit = exit_vote();
    for (const uint32_t phi : header.phis) {
      if (!live_[phi] || !f_.insts[phi].per_lane || f_.insts[phi].type != ir::Type::b1) continue;
      // What a lane leaves with has to be 0 as well.
      const Value back = f_.args(Value{phi})[construct().back];
      if (!exit || ir::implies(f_, back, exit->lanes, kImplied)) verdict().resting.push_back(phi);
    }
    for (bool fewer = true; fewer && !verdict().resting.empty() && !verdict().blocked;) {
      settle();
      fewer = std::erase_if(verdict().resting,
                            [&](uint32_t phi) { return see(f_.args(Value{phi})[construct().back]) != kFalse; }) != 0;
    }
    if (verdict().resting.empty()) verdict().harmless = false;
    if (!verdict().harmless) return;
    for (const uint32_t id : used_behind_[current_]) {
      const Seen seen = see({id});
      verdict().leaving.emplace_back(id, keeps(seen) ? seen : id);
    }
  }
  std::optional<Vote> exit_vote() const {
    for (uint32_t n = construct().first; n <= construct().last; ++n) {
      if (const auto vote = vote_of(f_, n); vote && vote->past == construct().join) return vote;
    }
    return std::nullopt;
  }
  // Another round of the loop changes nothing about it.
  bool keeps(Seen seen) {
    if (seen == kFalse || seen == kTrue) return true;
    const ir::Inst& inst = f_.insts[seen];
    if (inst.op != Op::phi || inst.block != construct().head) return true;
    return see(f_.args(inst)[construct().back]) == seen;
  }

  // Until every header of an inner loop holds what was taken for granted.
  void settle() {
    constexpr int kMostRounds = 8;
    int rounds = 0;
    do {
      if (++rounds > kMostRounds) verdict().blocked = true;
      restart();
      taken_.clear();
      verdict().harmless = true;
      through();
    } while (!verdict().blocked && !all_taken_hold());
    for (const auto& [phi, seen] : taken_) varies_[phi] = 0;
    for (const uint32_t phi : varying_) varies_[phi] = 0;
    varying_.clear();
  }
  bool all_taken_hold() {
    bool hold = true;
    for (const auto& [phi, seen] : taken_) {
      const Construct& inner = c_.all[c_.owner[f_.insts[phi].block]];
      if (see(f_.args(Value{phi})[inner.back]) == seen) continue;
      hold = false;
      varies_[phi] = 1;
      varying_.push_back(phi);
    }
    return hold;
  }

  void through() {
    for (uint32_t n = construct().first; n <= construct().last && !verdict().blocked; ++n) {
      if (const uint32_t child = passable(n)) {
        n = c_.all[child].last;
        continue;
      }
      enter(n);
      for (const uint32_t id : f_.blocks[n].body)
        if (live_[id]) visit(id);
    }
  }

  // The largest harmless construct that begins here and is idle too.
  uint32_t passable(uint32_t n) {
    uint32_t found = 0;
    for (uint32_t c = c_.owner[n]; c != current_ && c_.all[c].first == n; c = c_.all[c].parent) {
      if (out_.verdicts[c].harmless && is_idle(c)) found = c;
    }
    return found;
  }
  bool is_idle(uint32_t c) {
    const Construct& child = c_.all[c];
    if (child.kind == Construct::Kind::selection) return see(child.lanes) == kFalse;
    return std::ranges::all_of(out_.verdicts[c].resting, [&](uint32_t phi) {
      const Value entry = f_.args(Value{phi})[child.entry];
      return see(entry) == kFalse;
    });
  }

  void enter(uint32_t n) {
    const ir::Block& block = f_.blocks[n];
    const bool own_header = construct().kind == Construct::Kind::loop && n == construct().head;
    for (const uint32_t phi : block.phis) {
      if (!live_[phi]) continue;
      const auto args = f_.args(Value{phi});
      if (own_header) {
        const bool rests = std::ranges::find(verdict().resting, phi) != verdict().resting.end();
        set({phi}, rests ? kFalse : phi);
      } else if (is_header(n)) {
        const Construct& inner = c_.all[c_.owner[n]];
        if (varies_[phi] || !inner.closed) {
          set({phi}, phi);
        } else {
          const Seen seen = see(args[inner.entry]);
          set({phi}, seen);
          taken_.emplace_back(phi, seen);
        }
      } else {
        set({phi}, joined(n, phi));
      }
    }
  }
  Seen joined(uint32_t n, uint32_t phi) {
    const auto args = f_.args(Value{phi});
    const uint32_t stepped = c_.joined[n];
    if (stepped != 0 && out_.verdicts[stepped].harmless && is_idle(stepped)) {
      if (!out_.clean[phi]) return phi;
      for (size_t i = 0; i < args.size(); ++i)
        if (f_.blocks[n].predecessors[i] == c_.all[stepped].skip) return see(args[i]);
    }
    const Seen first = see(args[0]);
    return std::ranges::all_of(args, [&](Value v) { return see(v) == first; }) ? first : phi;
  }

  void visit(uint32_t id) {
    const ir::Inst& inst = f_.insts[id];
    switch (inst.op) {
      case Op::store:
      case Op::atomic:
        if (see(f_.args(inst)[0]) != kFalse) verdict().harmless = false;
        break;
      case Op::any:
        // A branch's question may turn into each lane's own; any other answer concerns all.
        if (!only_decides(id)) verdict().blocked = true;
        break;
      case Op::ballot:
      case Op::first_lane:
      case Op::read_lane:
      case Op::shuffle:
      case Op::group_barrier:
      case Op::wave_fence:
        verdict().blocked = true;
        break;
      default:
        break;
    }
    set({id}, evaluate(id));
  }
  bool only_decides(uint32_t id) const {
    for (const uint32_t user : users_.of(id)) {
      if (f_.insts[user].op != Op::inot || !only_decides(user)) return false;
    }
    return true;
  }

  const Constructs& c_;
  const std::vector<uint8_t>& live_;
  const Users& users_;
  IdleLanes out_;
  uint32_t current_ = 0;
  std::vector<std::vector<uint32_t>> used_behind_;  // by construct: values of a loop that are used behind it
  std::vector<std::pair<uint32_t, Seen>> taken_;    // phis of inner headers, and what they were taken for
  std::vector<uint8_t> varies_;                     // by value: such a phi was taken for something and was not
  std::vector<uint32_t> varying_;
};

}  // namespace

IdleLanes find_idle_lanes(const ir::Function& f, const Constructs& constructs, const std::vector<uint8_t>& live,
                          const Users& users) {
  return Finder(f, constructs, live, users).run();
}

}  // namespace orrery::shader::passes
