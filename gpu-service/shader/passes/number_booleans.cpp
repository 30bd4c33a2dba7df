// Equal conditions are one value wherever the first stands in front of the other, and a compare that is another's
// inverse is its opposite: compiled code tests a switch's cases from both sides.
#include <algorithm>
#include <unordered_map>

#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using ir::Inst;
using ir::Op;
using ir::Traits;
using ir::Type;
using ir::Value;

namespace {

class Numberer {
 public:
  explicit Numberer(ir::Function& f) : f_(f) {}

  bool run() {
    find_dominators();
    struct Open {
      uint32_t block;
      size_t next, log;
    };
    std::vector<Open> open;
    const auto enter = [&](uint32_t block) {
      open.push_back({block, 0, log_.size()});
      through(block);
    };
    enter(0);
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next < children_[top.block].size()) {
        enter(children_[top.block][top.next++]);
      } else {
        forget(top.log);
        open.pop_back();
      }
    }
    if (changed_) finish();
    return changed_;
  }

 private:
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

  Value resolve(Value v) const {
    while (f_.at(v).op == Op::copy) v = f_.args(v)[0];
    return v;
  }
  static uint64_t key(Op op, Value a, Value b) {
    return static_cast<uint64_t>(op) << 56 | uint64_t{a.id} << 28 | (b.id & 0xfffffff);
  }

  void through(uint32_t n) {
    for (const uint32_t id : f_.blocks[n].body) {
      const Op op = f_.insts[id].op;
      if (op == Op::lane_if) {
        guards_.push_back(log_.size());
      } else if (op == Op::lane_endif) {  // what was made inside is not there behind it
        forget(guards_.back());
        guards_.pop_back();
      } else if (f_.insts[id].type == Type::b1 && f_.insts[id].count <= 2) {
        visit(id);
      }
    }
  }
  void visit(uint32_t id) {
    Inst& inst = f_.insts[id];
    const Traits traits = ir::traits_of(inst.op);
    if ((traits != Traits::pure && traits != Traits::commutes) || inst.op == Op::lane_join || inst.op == Op::phi)
      return;
    Value args[2]{};
    for (uint32_t i = 0; i < inst.count; ++i) {
      Value& v = f_.operands[inst.first + i];
      args[i] = v = resolve(v);
    }
    if (inst.count == 0) return;
    if (traits == Traits::commutes && args[0].id > args[1].id) std::swap(args[0], args[1]);
    if (const auto found = known_.find(key(inst.op, args[0], args[1])); found != known_.end()) {
      become(id, Op::copy, {found->second});
      return;
    }
    if (inst.count == 2) {
      // By its inverse, under either order of the operands.
      for (const bool swapped : {false, true}) {
        const Op other = swapped ? ir::inverse_swapped(inst.op) : ir::inverse(inst.op);
        const auto found = known_.find(key(other, args[swapped], args[!swapped]));
        if (other == Op::count || found == known_.end()) continue;
        const Value positive{found->second};
        if (const auto opposite = known_.find(key(Op::inot, positive, {})); opposite != known_.end()) {
          become(id, Op::copy, {opposite->second});
        } else {
          become(id, Op::inot, positive);
          add(key(Op::inot, positive, {}), id);
        }
        return;
      }
    }
    add(key(inst.op, args[0], args[1]), id);
  }
  void become(uint32_t id, Op op, Value v) {
    Inst& inst = f_.insts[id];
    inst.op = op;
    inst.count = 1;
    f_.operands[inst.first] = v;
    changed_ = true;
  }
  void add(uint64_t k, uint32_t id) {
    if (known_.emplace(k, id).second) log_.push_back(k);
  }
  void forget(size_t to) {
    for (; log_.size() > to; log_.pop_back()) known_.erase(log_.back());
  }

  void finish() {
    for (Value& v : f_.operands)
      if (v) v = resolve(v);
    for (ir::Block& block : f_.blocks) {
      if (block.condition) block.condition = resolve(block.condition);
      std::erase_if(block.body, [&](uint32_t id) { return f_.insts[id].op == Op::copy; });
    }
  }

  ir::Function& f_;
  std::vector<std::vector<uint32_t>> children_;
  std::unordered_map<uint64_t, uint32_t> known_;
  std::vector<uint64_t> log_;
  std::vector<size_t> guards_;
  bool changed_ = false;
};

}  // namespace

bool number_booleans(ir::Function& f) { return Numberer(f).run(); }

}  // namespace orrery::shader::passes
