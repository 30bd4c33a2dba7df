// llvmpipe makes 0 of x * 0 and x of x + 0, exact or not, where it knows the zero: signs are lost, NaNs and infinities
// too. Zeros that the program writes are seen to in ir/rounding.cpp; here are those that a phi or a select brings,
// which the driver knows once it has unrolled a loop. They become zeros that it doesn't know.
#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::spirv {

using ir::Op;
using ir::Type;

namespace {

bool is_zero(const ir::Function& f, ir::Value v) {
  const ir::Inst& inst = f.at(v);
  return inst.op == Op::constant && bits_of(inst.type) == 32 && (inst.imm & 0x7fffffff) == 0;
}

}  // namespace

// Additions and multiplications, and phis and selects whose zeros one of them may see.
void Emitter::find_zeros_to_hide() {
  hides_zeros_.assign(f_.insts.size(), false);
  std::vector<bool> seen(f_.insts.size(), false);
  std::vector<uint32_t> left;
  const auto look = [&](ir::Value v) {
    if (seen[v.id]) return;
    seen[v.id] = true;
    left.push_back(v.id);
  };
  for (const ir::Block& block : f_.blocks) {
    for (const uint32_t id : block.body) {
      const ir::Inst& i = f_.insts[id];
      if (i.op != Op::fadd && i.op != Op::fsub && i.op != Op::fmul && i.op != Op::ffma) continue;
      hides_zeros_[id] = true;
      for (const ir::Value v : f_.args(i)) look(v);
    }
  }
  while (!left.empty()) {
    const uint32_t id = left.back();
    left.pop_back();
    const ir::Inst& i = f_.insts[id];
    switch (i.op) {
      case Op::phi:
      case Op::select:
      case Op::lane_join:
        hides_zeros_[id] = true;
        [[fallthrough]];
      case Op::bitcast:
      case Op::fneg:
      case Op::fabs:
        for (const ir::Value v : f_.args(i)) look(v);
        break;
      default:
        break;
    }
  }
}

// An operand of `inst`.
Id Emitter::operand_id(uint32_t inst, ir::Value v, uint32_t slot) {
  if (hides_zeros_.empty() || !hides_zeros_[inst] || !is_zero(f_, v)) return id(v, slot);
  const ir::Inst& zero = f_.at(v);
  Id& made = unknown_zeros_[zero.type == Type::f32][zero.imm != 0];
  if (made) return made;
  return made = in_prelude([&] {
           // No guest address has bits there.
           Id bits = binary(spv::OpShiftRightLogical, push(kCodeHigh), u32(16));
           if (zero.imm != 0) bits = binary(spv::OpBitwiseOr, bits, u32(zero.imm));
           return zero.type == Type::f32 ? value(spv::OpBitcast, module_.type(Type::f32), {bits}) : bits;
         });
}

}  // namespace orrery::shader::spirv
