#include "gpu-service/shader/passes/lane_view.hpp"

namespace orrery::shader::passes {

using ir::Op;
using ir::Type;
using ir::Value;

Seen LaneView::see(ir::Value v) {
  if (is_set(v)) return seen_[v.id];
  const ir::Inst& inst = f_.at(v);
  Seen seen = v.id;
  if (inst.op == Op::constant) {
    if (inst.type == Type::b1) seen = inst.imm != 0 ? kTrue : kFalse;
  } else if (inst.op == Op::bitcast || inst.op == Op::copy) {
    seen = see(f_.args(inst)[0]);
  } else if (inst.block != ~0u) {
    seen = unset(v);
  }
  set(v, seen);
  return seen;
}

Seen LaneView::evaluate(uint32_t id) {
  const ir::Inst& inst = f_.insts[id];
  const auto args = f_.args(inst);
  const auto negated = [&](Seen s) -> Seen {
    if (s == kFalse || s == kTrue) return s == kFalse ? kTrue : kFalse;
    return f_.insts[s].op == Op::inot ? see(f_.args(Value{s})[0]) : id;
  };
  switch (inst.op) {
    case Op::copy:
    case Op::bitcast:
      return see(args[0]);
    case Op::select: {
      const Seen condition = see(args[0]), yes = see(args[1]), no = see(args[2]);
      if (condition == kTrue || yes == no) return yes;
      return condition == kFalse ? no : id;
    }
    case Op::inot:
      return inst.type == Type::b1 ? negated(see(args[0])) : id;
    case Op::iand:
    case Op::ior: {
      if (inst.type != Type::b1) return id;
      const Seen wins = inst.op == Op::iand ? kFalse : kTrue, yields = inst.op == Op::iand ? kTrue : kFalse;
      const Seen a = see(args[0]), b = see(args[1]);
      if (a == wins || b == wins) return wins;
      if (a == yields || a == b) return b;
      if (b == yields) return a;
      return inst.op == Op::iand && excludes(a, b) ? kFalse : id;
    }
    case Op::ixor: {
      if (inst.type != Type::b1) return id;
      const Seen a = see(args[0]), b = see(args[1]);
      if (a == b) return kFalse;
      if (a == kFalse) return b;
      if (b == kFalse) return a;
      return a == kTrue ? negated(b) : b == kTrue ? negated(a) : id;
    }
    default:
      return id;
  }
}

bool LaneView::opposite(Seen a, Seen b) {
  const auto is_not = [&](Seen x, Seen y) {
    return f_.insts[x].op == Op::inot && f_.insts[x].type == Type::b1 && see(f_.args(Value{x})[0]) == y;
  };
  return ir::are_opposite(f_, {a}, {b}) || is_not(a, b) || is_not(b, a);
}

bool LaneView::excludes(Seen a, Seen b, int depth) {
  if (a == kTrue || a == kFalse || b == kTrue || b == kFalse) return a == kFalse || b == kFalse;
  if (opposite(a, b)) return true;
  if (depth == 0) return false;
  for (const Seen one : {a, b}) {
    const ir::Inst& inst = f_.insts[one];
    if (inst.op != Op::iand || inst.type != Type::b1) continue;
    const Seen other = one == a ? b : a;
    for (const Value v : f_.args(inst))
      if (!set_aside(v) && excludes(see(v), other, depth - 1)) return true;
  }
  return false;
}

}  // namespace orrery::shader::passes
