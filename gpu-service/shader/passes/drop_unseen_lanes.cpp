// Backwards over the program: in which lanes is each value looked at? Nowhere, in all, or only where one condition
// holds. A select on exec whose result is only looked at where exec holds is its new value.
//
// One condition is one SSA value, which inside a loop stands for another set of lanes in each iteration. A value
// reaches another iteration only through a phi of the loop's header, so what such a phi needs is needed in all lanes.
#include "gpu-service/shader/passes/liveness.hpp"
#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using ir::Op;
using ir::Value;

namespace {

constexpr uint32_t kNowhere = ~0u, kEverywhere = ~0u - 1;

class Lanes {
 public:
  explicit Lanes(ir::Function& f) : f_(f), live_(live_values(f)), need_(f.insts.size(), kNowhere) {}

  void run() {
    for (const ir::Block& block : f_.blocks) {
      for (const uint32_t phi : block.phis) {
        if (live_[phi] && is_header(block)) everywhere(phi);
      }
    }
    for (size_t n = f_.blocks.size(); n-- > 0;) {
      ir::Block& block = f_.blocks[n];
      if (block.condition) look(block.condition, kEverywhere);
      for (size_t i = block.body.size(); i-- > 0;) {
        if (live_[block.body[i]]) visit(block.body[i]);
      }
      if (is_header(block)) continue;
      for (const uint32_t phi : block.phis) {
        if (!live_[phi]) continue;
        for (Value v : f_.args(Value{phi})) look(v, need_[phi]);
      }
    }
    for (Value& v : f_.operands)
      if (v) v = resolve(v);
    for (ir::Block& block : f_.blocks)
      if (block.condition) block.condition = resolve(block.condition);
  }

 private:
  bool is_header(const ir::Block& block) const {
    const auto index = static_cast<size_t>(&block - f_.blocks.data());
    for (const uint32_t p : block.predecessors)
      if (p >= index) return true;
    return false;
  }
  Value resolve(Value v) const {
    while (f_.at(v).op == Op::copy) v = f_.args(v)[0];
    return v;
  }
  void everywhere(uint32_t id) {
    for (Value v : f_.args(Value{id})) look(v, kEverywhere);
  }
  void look(Value v, uint32_t lanes) {
    uint32_t& need = need_[v.id];
    if (lanes == kNowhere || need == lanes || need == kEverywhere) return;
    if (need == kNowhere || lanes == kEverywhere) {
      need = lanes;
    } else if (ir::implies(f_, {need}, {lanes})) {
      need = lanes;
    } else if (!ir::implies(f_, {lanes}, {need})) {
      need = kEverywhere;
    }
  }
  bool only_where(uint32_t id, Value condition) const {
    const uint32_t need = need_[id];
    return need != kEverywhere && (need == kNowhere || ir::implies(f_, {need}, condition));
  }
  void become(uint32_t id, Value v) {
    ir::Inst& inst = f_.insts[id];
    f_.operands[inst.first] = v;
    inst.op = Op::copy;
    inst.count = 1;
    look(v, need_[id]);
  }

  void visit(uint32_t id) {
    const ir::Inst inst = f_.insts[id];
    const auto args = f_.args(inst);
    switch (inst.op) {
      case Op::load:
      case Op::store:
      case Op::atomic: {
        look(args[0], kEverywhere);
        const bool all = f_.at(args[0]).op == Op::constant;
        for (size_t i = 1; i < args.size(); ++i) look(args[i], all ? kEverywhere : args[0].id);
        return;
      }
      case Op::ballot:
      case Op::any:
      case Op::mask_nonzero:
      case Op::first_lane:
      case Op::read_lane:
      case Op::group_barrier:
      case Op::memory_barrier:
      case Op::wave_wait:
      case Op::wave_fence:
      case Op::lane_if:
        everywhere(id);
        return;
      case Op::lane_join:  // its lanes inside are other ones than those that look at it
        everywhere(id);
        return;
      case Op::shuffle:
        look(args[0], kEverywhere);
        look(args[1], need_[id]);
        return;
      case Op::select: {
        const Value condition = args[0];
        if (!f_.at(condition).per_lane) break;
        if (only_where(id, condition)) return become(id, args[1]);
        look(condition, need_[id]);
        look(args[1], condition.id);
        look(args[2], need_[id]);
        return;
      }
      case Op::iand: {
        if (inst.type != ir::Type::b1 || !inst.per_lane) break;
        for (size_t i = 0; i < 2; ++i)
          if (f_.at(args[i]).per_lane && only_where(id, args[i])) return become(id, args[1 - i]);
        break;
      }
      default:
        break;
    }
    for (Value v : args) look(v, need_[id]);
  }

  ir::Function& f_;
  const std::vector<uint8_t> live_;
  std::vector<uint32_t> need_;
};

}  // namespace

void drop_unseen_lanes(ir::Function& f) { Lanes(f).run(); }

}  // namespace orrery::shader::passes
