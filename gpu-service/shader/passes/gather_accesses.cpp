// Loads come to stand side by side, in front of what is computed from them, so that all are on their way at once; and
// with one lane an invocation, accesses of the same lanes share one branch instead of each having its own. The order of
// accesses stays.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using ir::Inst;
using ir::Op;
using ir::Traits;
using ir::Type;
using ir::Value;

namespace {

bool is_access(Op op) { return op == Op::load || op == Op::store || op == Op::atomic; }
bool is_pure(Op op) {
  // mask_nonzero is a test of a number by now.
  const Traits traits = ir::traits_of(op);
  return traits == Traits::pure || traits == Traits::commutes || op == Op::mask_nonzero;
}

class Gatherer {
 public:
  Gatherer(ir::Function& f, bool alone)
      : f_(f),
        alone_(alone),
        uses_(f.insts.size()),
        mark_(f.insts.size()),
        run_of_(f.insts.size()),
        replaced_(f.insts.size()) {}

  void run() {
    count_uses();
    for (uint32_t n = 0; n < f_.blocks.size(); ++n) {
      block_ = n;
      line_up_loads();
      if (alone_) share_branches();
    }
    if (runs_ != 0) replace();
  }

 private:
  void count_uses() {
    const auto count = [&](uint32_t id) {
      for (const Value v : f_.args(Value{id})) ++uses_[v.id];
    };
    for (const ir::Block& block : f_.blocks) {
      std::ranges::for_each(block.phis, count);
      std::ranges::for_each(block.body, count);
      if (block.condition) ++uses_[block.condition.id];
    }
  }

  bool depends(uint32_t id) const {
    return std::ranges::any_of(f_.args(Value{id}), [&](Value v) { return mark_[v.id] == now_; });
  }

  void line_up_loads() {
    std::vector<uint32_t>& body = f_.blocks[block_].body;
    std::vector<uint32_t> out, loads, behind;
    out.reserve(body.size());
    const auto flush = [&] {
      out.insert(out.end(), loads.begin(), loads.end());
      out.insert(out.end(), behind.begin(), behind.end());
      loads.clear();
      behind.clear();
      ++now_;
    };
    ++now_;
    for (const uint32_t id : body) {
      const Op op = f_.insts[id].op;
      if (op == Op::load) {
        if (depends(id)) flush();
        loads.push_back(id);
        mark_[id] = now_;
      } else if (is_pure(op) && op != Op::lane_join) {
        const bool later = depends(id);
        (later ? behind : out).push_back(id);
        if (later) mark_[id] = now_;
      } else if (op == Op::wave_wait) {  // nothing to emit
        out.push_back(id);
      } else {
        flush();
        out.push_back(id);
      }
    }
    flush();
    body = std::move(out);
  }

  // What lanes need to hold for an access: the mask itself, or one of the two that it is made of.
  using Factors = std::array<Value, 3>;
  Factors factors(uint32_t access) const {
    const Value lanes = f_.args(Value{access})[0];
    const Inst& inst = f_.at(lanes);
    if (inst.op == Op::constant || !inst.per_lane) return {};
    if (inst.op != Op::iand) return {lanes};
    return {lanes, f_.args(inst)[0], f_.args(inst)[1]};
  }
  static Factors common(const Factors& a, const Factors& b) {
    Factors out{};
    size_t n = 0;
    for (const Value v : a)
      if (v && std::ranges::find(b, v) != b.end()) out[n++] = v;
    return out;
  }

  void share_branches() {
    const std::vector<uint32_t> body = std::move(f_.blocks[block_].body);
    components_.clear();
    for (const uint32_t id : body)
      if (f_.insts[id].op == Op::component) components_.emplace_back(f_.args(Value{id})[0].id, id);
    std::ranges::sort(components_);
    std::vector<uint32_t> out;
    for (size_t i = 0; i < body.size();) {
      if (run_of_[body[i]] != 0) {  // taken into an earlier run
        ++i;
        continue;
      }
      if (!is_access(f_.insts[body[i]].op)) {
        out.push_back(body[i++]);
        continue;
      }
      Factors shared = factors(body[i]);
      size_t end = i + 1, accesses = 1;
      for (size_t at = end; at < body.size() && shared[0]; ++at) {
        const Op op = f_.insts[body[at]].op;
        if (is_access(op)) {
          const Factors now = common(shared, factors(body[at]));
          if (!now[0]) break;
          shared = now;
          end = at + 1;
          ++accesses;
        } else if ((!is_pure(op) && op != Op::wave_wait) || op == Op::lane_join) {
          break;
        }
      }
      // What is made of the last accesses' results comes along to be looked at.
      while (accesses > 1 && end < body.size() && is_pure(f_.insts[body[end]].op) &&
             f_.insts[body[end]].op != Op::lane_join) {
        ++end;
      }
      if (shared[0] && accesses > 1) {
        wrap(std::span(body).subspan(i, end - i), shared[0], out);
      } else {
        out.push_back(body[i]);
        end = i + 1;
      }
      i = end;
    }
    f_.blocks[block_].body = std::move(out);
  }

  uint32_t add(Op op, Type type, std::initializer_list<Value> args) {
    f_.insts.push_back({.op = op,
                        .type = type,
                        .per_lane = true,
                        .count = static_cast<uint32_t>(args.size()),
                        .first = static_cast<uint32_t>(f_.operands.size()),
                        .block = block_});
    f_.operands.insert(f_.operands.end(), args);
    grow();
    return static_cast<uint32_t>(f_.insts.size() - 1);
  }
  void grow() {
    uses_.resize(f_.insts.size());
    mark_.resize(f_.insts.size());
    run_of_.resize(f_.insts.size());
    replaced_.resize(f_.insts.size());
  }
  Value constant(Type type, uint32_t bits) {
    for (const auto& [value, t, b] : constants_)
      if (t == type && b == bits) return value;
    f_.insts.push_back({.op = Op::constant, .type = type, .imm = bits});
    grow();
    const Value v{static_cast<uint32_t>(f_.insts.size() - 1)};
    constants_.emplace_back(v, type, bits);
    return v;
  }

  // From an access to the last that shares the mask, both included.
  void wrap(std::span<const uint32_t> items, Value lanes, std::vector<uint32_t>& out) {
    const uint32_t run = ++runs_;
    // What depends on the run's accesses, as far as later accesses of it need it, goes with them.
    std::vector<uint32_t> inside, behind;
    ++now_;
    for (const uint32_t id : items) {
      if (run_of_[id] != 0) continue;
      const bool access = is_access(f_.insts[id].op);
      if (!access && !depends(id)) {
        out.push_back(id);
        continue;
      }
      inside.push_back(id);
      mark_[id] = now_;
    }
    ++now_;
    for (size_t i = inside.size(); i-- > 0;) {
      const Op op = f_.insts[inside[i]].op;
      if (is_access(op) || op == Op::component || mark_[inside[i]] == now_) {
        for (const Value v : f_.args(Value{inside[i]})) mark_[v.id] = now_;
        run_of_[inside[i]] = run;
      } else {
        behind.push_back(inside[i]);
      }
    }
    std::ranges::reverse(behind);
    std::erase_if(inside, [&](uint32_t id) { return run_of_[id] != run; });
    take_components(run, inside);

    for (const uint32_t id : inside)
      for (const Value v : f_.args(Value{id}))
        if (run_of_[v.id] == run) ++inner_uses(v.id);
    out.push_back(add(Op::lane_if, Type::none, {lanes}));
    for (const uint32_t id : inside) {
      if (is_access(f_.insts[id].op)) narrow(id, lanes);
      out.push_back(id);
    }
    out.push_back(add(Op::lane_endif, Type::none, {}));
    const std::vector<uint32_t> wanted = wanted_behind(inside);
    for (const uint32_t id : wanted) {
      const Inst inst = f_.insts[id];
      if (!is_access(inst.op) && inst.op != Op::component) continue;
      const Value none = constant(inst.type, 0);
      const uint32_t joined = add(Op::lane_join, inst.type, {{id}, none});
      replaced_[id] = joined;
      run_of_[joined] = run;
      out.push_back(joined);
    }
    // Made once more, from what lanes that were off have instead.
    for (const uint32_t id : wanted) {
      const Inst inst = f_.insts[id];
      if (is_access(inst.op) || inst.op == Op::component) continue;
      const uint32_t copy = copy_of(inst);
      replaced_[id] = copy;
      out.push_back(copy);
    }
    out.insert(out.end(), behind.begin(), behind.end());
  }
  // A load's components are joined and not the load, so that those that stand behind the run come along.
  void take_components(uint32_t run, std::vector<uint32_t>& inside) {
    for (size_t n = 0, count = inside.size(); n < count; ++n) {
      if (f_.insts[inside[n]].op != Op::load) continue;
      for (const auto& [load, id] : std::ranges::equal_range(components_, inside[n], {}, &Component::first)) {
        if (run_of_[id] == run) continue;
        run_of_[id] = run;
        inside.push_back(id);
      }
    }
  }
  uint32_t& inner_uses(uint32_t id) {
    if (inner_uses_.size() < f_.insts.size()) inner_uses_.resize(f_.insts.size());
    return inner_uses_[id];
  }
  std::vector<uint32_t> wanted_behind(std::span<const uint32_t> inside) {
    std::vector<uint32_t> wanted;
    ++now_;
    for (size_t i = inside.size(); i-- > 0;) {
      const uint32_t id = inside[i];
      const Inst& inst = f_.insts[id];
      const uint32_t inner = std::exchange(inner_uses(id), 0);
      if (inst.op == Op::store || (uses_[id] == inner && mark_[id] != now_)) continue;
      // Of a load of several components only those are used.
      if (inst.op == Op::load && f_.accesses[inst.imm].components > 1) continue;
      wanted.push_back(id);
      if (is_access(inst.op) || inst.op == Op::component) continue;
      for (const Value v : f_.args(inst)) mark_[v.id] = now_;
    }
    std::ranges::reverse(wanted);
    return wanted;
  }
  uint32_t copy_of(const Inst& inst) {
    const std::vector<Value> args(f_.args(inst).begin(), f_.args(inst).end());
    f_.insts.push_back(inst);
    f_.insts.back().first = static_cast<uint32_t>(f_.operands.size());
    f_.operands.insert(f_.operands.end(), args.begin(), args.end());
    grow();
    return static_cast<uint32_t>(f_.insts.size() - 1);
  }
  // The access' own condition, the run's left out.
  void narrow(uint32_t access, Value lanes) {
    const Value own = f_.args(Value{access})[0];
    Value rest = constant(Type::b1, 1);
    if (own != lanes) {
      const auto args = f_.args(own);
      rest = args[0] == lanes ? args[1] : args[0];
    }
    f_.operands[f_.insts[access].first] = rest;
  }

  void replace() {
    const auto now = [&](Value& v, uint32_t run) {
      if (v && replaced_[v.id] != 0 && run_of_[v.id] != run) v = {replaced_[v.id]};
    };
    for (ir::Block& block : f_.blocks) {
      for (const auto* list : {&block.phis, &block.body})
        for (const uint32_t id : *list)
          for (uint32_t i = 0; i < f_.insts[id].count; ++i) now(f_.operands[f_.insts[id].first + i], run_of_[id]);
      if (block.condition) now(block.condition, 0);
    }
  }

  ir::Function& f_;
  const bool alone_;
  std::vector<uint32_t> uses_, mark_, run_of_, replaced_, inner_uses_;
  using Component = std::pair<uint32_t, uint32_t>;  // a load, and one of its components in this block
  std::vector<Component> components_;
  std::vector<std::tuple<Value, Type, uint32_t>> constants_;
  uint32_t block_ = 0, now_ = 0, runs_ = 0;
};

}  // namespace

void gather_accesses(ir::Function& f, bool alone) { Gatherer(f, alone).run(); }

}  // namespace orrery::shader::passes
