#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using ir::Op;
using ir::Value;

namespace {

enum class Kind : uint8_t { unknown, mask, number };

// A number that comes from a ballot anywhere is a mask; the walk is bounded, and a long way round counts as a number.
Kind kind_of(const ir::Function& f, Value v, std::vector<uint32_t>& seen) {
  const ir::Inst& inst = f.at(v);
  switch (inst.op) {
    case Op::ballot:
      return Kind::mask;
    case Op::constant:
    case Op::undefined:
      return Kind::unknown;
    case Op::iand:
    case Op::ior:
    case Op::ixor:
    case Op::inot:
    case Op::phi:
    case Op::select:
      break;
    default:
      return Kind::number;
  }
  if (seen.size() > 32) return Kind::number;
  for (const uint32_t id : seen)
    if (id == v.id) return Kind::unknown;
  seen.push_back(v.id);
  Kind kind = Kind::unknown;
  const auto args = f.args(inst);
  for (size_t i = inst.op == Op::select ? 1 : 0; i < args.size(); ++i) {
    const Kind one = kind_of(f, args[i], seen);
    if (one == Kind::mask) return Kind::mask;
    if (one == Kind::number) kind = Kind::number;
  }
  return kind;
}

}  // namespace

void choose_mask_tests(ir::Function& f) {
  std::vector<uint32_t> seen;
  for (ir::Block& block : f.blocks) {
    for (const uint32_t id : block.body) {
      ir::Inst& inst = f.insts[id];
      if (inst.op != Op::mask_nonzero) continue;
      bool mask = false;
      for (uint32_t i = 1; i < inst.count; ++i) {
        seen.clear();
        mask |= kind_of(f, f.operands[inst.first + i], seen) == Kind::mask;
      }
      if (!mask || !f.at(f.operands[inst.first]).per_lane) continue;
      inst.op = Op::any;
      inst.count = 1;
    }
  }
}

}  // namespace orrery::shader::passes
