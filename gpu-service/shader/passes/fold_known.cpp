// Booleans that a lane knows where it stands: a branch on its own bit was taken, a mask was made from one that holds.
// Loops are taken at their best first and looked at until nothing changes (Wegman and Zadeck, "Constant propagation
// with conditional branches", 1991, for booleans alone); then selects and masks are written anew.
#include <algorithm>

#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using cfg::TerminatorKind;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

enum class Known : uint8_t { unseen, no, yes, varies };
Known meet(Known a, Known b) {
  if (a == Known::unseen) return b;
  return b == Known::unseen || a == b ? a : Known::varies;
}
Known opposite(Known k) { return k == Known::no ? Known::yes : k == Known::yes ? Known::no : k; }

class Folder {
 public:
  explicit Folder(ir::Function& f) : f_(f), made_(f.insts.size()), fact_(f.insts.size()) {
    constants_[0] = constant(0);
    constants_[1] = constant(1);
    find_dominators();
    booleans_.resize(f.blocks.size());
    for (size_t n = 0; n < f.blocks.size(); ++n) {
      for (const uint32_t id : f.blocks[n].body) {
        const Op op = f.insts[id].op;
        if (f.insts[id].type == Type::b1 || op == Op::lane_if || op == Op::lane_endif) booleans_[n].push_back(id);
      }
    }
  }

  void run() {
    constexpr int kMostRounds = 64;
    for (int round = 0; round < kMostRounds; ++round) {
      changed_ = false;
      walk(false);
      if (!changed_) {
        walk(true);
        finish();
        return;
      }
    }
  }

 private:
  Value constant(uint32_t bit) {
    for (uint32_t id = 0; id < f_.insts.size(); ++id)
      if (f_.insts[id].op == Op::constant && f_.insts[id].type == Type::b1 && f_.insts[id].imm == bit) return {id};
    f_.insts.push_back({.op = Op::constant, .type = Type::b1, .imm = bit});
    made_.push_back(Known::unseen);
    fact_.push_back(Known::unseen);
    return {static_cast<uint32_t>(f_.insts.size() - 1)};
  }

  void find_dominators() {
    const auto count = static_cast<uint32_t>(f_.blocks.size());
    std::vector<uint32_t> dominator(count, ~0u);
    children_.resize(count);
    for (uint32_t n = 1; n < count; ++n) {
      uint32_t d = ~0u;
      for (uint32_t p : f_.blocks[n].predecessors) {
        if (p >= n || (p != 0 && dominator[p] == ~0u)) continue;
        if (d == ~0u) d = p;
        while (d != p) (d > p ? d : p) = dominator[std::max(d, p)];
      }
      dominator[n] = d;
      if (d != ~0u) children_[d].push_back(n);
    }
  }

  // Facts: a log that is undone on the way back up the tree.
  struct Change {
    uint32_t value;
    Known before;
  };
  void learn(Value v, Known now) {
    std::vector<std::pair<Value, Known>> open{{v, now}};
    while (!open.empty()) {
      const Known known = open.back().second;
      const Value value = resolve(open.back().first);
      open.pop_back();
      if (fact_[value.id] == known || f_.at(value).op == Op::constant) continue;
      log_.push_back({value.id, fact_[value.id]});
      fact_[value.id] = known;
      const Inst& inst = f_.at(value);
      const auto args = f_.args(inst);
      if (inst.op == Op::inot) open.emplace_back(args[0], opposite(known));
      if ((inst.op != Op::iand && inst.op != Op::ior) || inst.type != Type::b1) continue;
      // What an and is made of when it holds; what is left to blame when it doesn't. An or the other way round.
      const Known whole = inst.op == Op::iand ? Known::yes : Known::no;
      for (size_t i = 0; i < 2; ++i)
        if (known == whole || of(args[1 - i]) == whole) open.emplace_back(args[i], known);
    }
  }
  void undo(size_t to) {
    for (; log_.size() > to; log_.pop_back()) fact_[log_.back().value] = log_.back().before;
  }

  Known of(Value v) const {
    v = resolve(v);
    if (fact_[v.id] != Known::unseen) return fact_[v.id];
    const Inst& inst = f_.at(v);
    if (inst.op == Op::constant) return inst.imm != 0 ? Known::yes : Known::no;
    return made_[v.id];
  }

  void walk(bool write) {
    struct Open {
      uint32_t block;
      size_t next, log;
    };
    std::vector<Open> open;
    guards_.clear();
    const auto enter = [&](uint32_t block) {
      open.push_back({block, 0, log_.size()});
      learn_from_edge(block);
      through(block, write);
    };
    enter(0);
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next < children_[top.block].size()) {
        enter(children_[top.block][top.next++]);
        continue;
      }
      undo(top.log);
      open.pop_back();
    }
  }

  // Of the only way into a block.
  void learn_from_edge(uint32_t block) {
    const auto& predecessors = f_.blocks[block].predecessors;
    if (predecessors.size() == 1) learn_from_branch(predecessors[0], block);
  }
  void learn_from_branch(uint32_t from, uint32_t to) {
    const cfg::StructuredBlock& shape = f_.graph->blocks[from];
    if (shape.terminator != TerminatorKind::branch || shape.targets[0] == shape.targets[1]) return;
    learn(f_.blocks[from].condition, shape.targets[0] == to ? Known::yes : Known::no);
  }

  void through(uint32_t n, bool write) {
    ir::Block& block = f_.blocks[n];
    if (!write) {
      for (const uint32_t id : booleans_[n]) step(id);
    } else {
      for (const uint32_t id : block.body) {
        // A guard's own question is asked before its answer is known.
        const bool asks = f_.insts[id].op == Op::lane_if;
        if (asks) rewrite(id);
        step(id);
        if (!asks) rewrite(id);
      }
      if (block.condition) block.condition = known_value(block.condition);
    }
    send(n, write);
  }
  void step(uint32_t id) {
    const Inst& inst = f_.insts[id];
    if (inst.op == Op::lane_if) {
      guards_.push_back(log_.size());
      learn(f_.args(inst)[0], Known::yes);
    } else if (inst.op == Op::lane_endif) {
      forget(guards_.back());
      guards_.pop_back();
    } else if (inst.type == Type::b1) {
      make(id, evaluate(inst));
    }
  }
  // The facts since `to`; logged themselves, so that they are back on the way up.
  void forget(size_t to) {
    for (size_t i = log_.size(); i-- > to;) {
      const Change change = log_[i];
      log_.push_back({change.value, fact_[change.value]});
      fact_[change.value] = change.before;
    }
  }

  void make(uint32_t id, Known known) {
    const Known now = meet(made_[id], known);
    changed_ |= now != made_[id];
    made_[id] = now;
  }

  Known evaluate(const Inst& inst) const {
    const auto args = f_.args(inst);
    switch (inst.op) {
      case Op::copy:
        return of(args[0]);
      case Op::inot:
        return opposite(of(args[0]));
      case Op::iand:
      case Op::ior: {
        const Known wins = inst.op == Op::iand ? Known::no : Known::yes;
        const Known a = of(args[0]), b = of(args[1]);
        if (a == wins || b == wins) return wins;
        if (ir::are_opposite(f_, resolve(args[0]), resolve(args[1]))) return wins;
        if (a == Known::unseen || b == Known::unseen) return Known::unseen;
        return a == b ? a : Known::varies;
      }
      case Op::select: {
        const Known condition = of(args[0]);
        if (condition == Known::yes) return of(args[1]);
        if (condition == Known::no) return of(args[2]);
        return condition == Known::unseen ? Known::unseen : meet(of(args[1]), of(args[2]));
      }
      case Op::lane_join:
        return meet(inside_join(args[0]), of(args[1]));
      case Op::any:  // a lane that knows of itself knows of all who are here
        return of(args[0]);
      default:
        return Known::varies;
    }
  }
  // Facts of the inside are forgotten here; what it was made is not.
  Known inside_join(Value v) const {
    v = resolve(v);
    const Inst& inst = f_.at(v);
    if (inst.op == Op::constant) return inst.imm != 0 ? Known::yes : Known::no;
    return made_[v.id];
  }

  // Along every way out: what the phis there get.
  void send(uint32_t n, bool write) {
    const cfg::StructuredBlock& shape = f_.graph->blocks[n];
    for (size_t t = 0; t < shape.targets.size(); ++t) {
      const uint32_t target = shape.targets[t];
      if (std::find(shape.targets.begin(), shape.targets.begin() + static_cast<std::ptrdiff_t>(t), target) !=
          shape.targets.begin() + static_cast<std::ptrdiff_t>(t)) {
        continue;
      }
      const ir::Block& to = f_.blocks[target];
      if (to.phis.empty()) continue;
      const size_t log = log_.size();
      learn_from_branch(n, target);
      const auto at = static_cast<size_t>(std::ranges::find(to.predecessors, n) - to.predecessors.begin());
      for (const uint32_t phi : to.phis) {
        Value& v = f_.operands[f_.insts[phi].first + at];
        if (f_.insts[phi].type != Type::b1) continue;
        if (write)
          v = known_value(v);
        else
          make(phi, of(v));
      }
      undo(log);
    }
  }

  Value resolve(Value v) const {
    while (f_.at(v).op == Op::copy) v = f_.args(v)[0];
    return v;
  }
  Value known_value(Value v) const {
    const Known known = of(v);
    if (known == Known::yes || known == Known::no) return constants_[known == Known::yes];
    return resolve(v);
  }
  bool is(Value v, Known known) const {
    const Inst& inst = f_.at(v);
    return inst.op == Op::constant && inst.type == Type::b1 && (inst.imm != 0) == (known == Known::yes);
  }

  void become(uint32_t id, Value v) {
    Inst& inst = f_.insts[id];
    f_.operands[inst.first] = v;
    inst.op = Op::copy;
    inst.count = 1;
  }
  void rewrite(uint32_t id) {
    const Inst inst = f_.insts[id];
    if (inst.op == Op::lane_join) return;
    for (uint32_t i = 0; i < inst.count; ++i) {
      Value& v = f_.operands[inst.first + i];
      v = f_.at(v).type == Type::b1 ? known_value(v) : resolve(v);
    }
    const auto args = f_.args(inst);
    switch (inst.op) {
      case Op::select:
        if (is(args[0], Known::yes) || args[1] == args[2]) return become(id, args[1]);
        if (is(args[0], Known::no)) return become(id, args[2]);
        break;
      case Op::iand:
      case Op::ior: {
        if (inst.type != Type::b1) break;
        const Known yields = inst.op == Op::iand ? Known::yes : Known::no;
        for (size_t i = 0; i < 2; ++i) {
          if (is(args[i], yields) || args[0] == args[1]) return become(id, args[1 - i]);
          if (is(args[i], opposite(yields))) return become(id, args[i]);
        }
        break;
      }
      case Op::inot:
        if (is(args[0], Known::yes)) return become(id, constants_[0]);
        if (is(args[0], Known::no)) return become(id, constants_[1]);
        break;
      case Op::bitcast:
        // Casts that selects stood between.
        if (f_.at(args[0]).op == Op::bitcast) {
          const Value inner = f_.args(args[0])[0];
          if (f_.type(inner) == inst.type) return become(id, inner);
          f_.operands[inst.first] = inner;
        }
        break;
      default:
        break;
    }
  }

  void finish() {
    for (ir::Block& block : f_.blocks) {
      for (const uint32_t phi : block.phis) {
        Value same;
        bool one = true;
        for (Value& v : std::span(f_.operands).subspan(f_.insts[phi].first, f_.insts[phi].count)) {
          v = resolve(v);
          if (v.id == phi) continue;
          one = one && (!same || same == v);
          same = v;
        }
        if (one && same) become(phi, same);
      }
    }
    for (Value& v : f_.operands)
      if (v) v = resolve(v);
    for (ir::Block& block : f_.blocks) {
      if (block.condition) block.condition = resolve(block.condition);
      std::erase_if(block.phis, [&](uint32_t id) { return f_.insts[id].op == Op::copy; });
      std::erase_if(block.body, [&](uint32_t id) { return f_.insts[id].op == Op::copy; });
    }
  }

  ir::Function& f_;
  std::vector<Known> made_, fact_;  // by value: what it is wherever it is made; what it is known to be here
  Value constants_[2];
  std::vector<std::vector<uint32_t>> children_, booleans_;
  std::vector<Change> log_;
  std::vector<size_t> guards_;  // where the facts of each lane_if around begin
  bool changed_ = false;
};

}  // namespace

void fold_known(ir::Function& f) { Folder(f).run(); }

}  // namespace orrery::shader::passes
