// Scalar moves and selections. What they move may be a lane mask.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/mask_operand.hpp"

namespace orrery::shader::semantics {
namespace {

template <uint32_t kDwords>
Outcome move(Builder& b, const Instruction& i) {
  const Operand& from = i.sources[0];
  const uint32_t to = i.destination.index;
  if (kDwords == 2 && !b.wave64() && from.kind == OperandKind::sgpr && from.index != Builder::kNull) {
    // Two masks of a wave32 side by side.
    const MaskValue low{b.sgpr(from.index), b.mask(from.index)};
    const MaskValue high{b.sgpr(from.index + 1u), b.mask(from.index + 1u)};
    set_mask_result(b, to, 1, low);
    set_mask_result(b, to == Builder::kNull ? to : to + 1, 1, high);
    return {};
  }
  set_mask_result(b, to, kDwords, mask_operand(b, from, kDwords));
  return {};
}

MaskValue choose(Builder& b, Value condition, MaskValue x, MaskValue y) {
  MaskValue result{b.select(condition, x.number, y.number), {}};
  if (x.boolean && y.boolean) result.boolean = b.select(condition, x.boolean, y.boolean);
  return result;
}

template <uint32_t kDwords>
Outcome select_by_scc(Builder& b, const Instruction& i) {
  const MaskValue x = mask_operand(b, i.sources[0], kDwords), y = mask_operand(b, i.sources[1], kDwords);
  set_mask_result(b, i.destination.index, kDwords, choose(b, b.scc(), x, y));
  return {};
}

template <uint32_t kDwords>
Outcome move_by_scc(Builder& b, const Instruction& i) {
  const MaskValue x = mask_operand(b, i.sources[0], kDwords), old = mask_operand(b, i.destination, kDwords);
  set_mask_result(b, i.destination.index, kDwords, choose(b, b.scc(), x, old));
  return {};
}

Outcome move_immediate(Builder& b, const Instruction& i) {
  scalar_result(b, i, b.u32(static_cast<uint32_t>(i.immediate)));
  return {};
}

Outcome move_immediate_by_scc(Builder& b, const Instruction& i) {
  scalar_result(b, i, b.select(b.scc(), b.u32(static_cast<uint32_t>(i.immediate)), b.sgpr(i.destination.index)));
  return {};
}

}  // namespace

void add_scalar_moves(SemanticTable& t) {
  set(t, Opcode::s_mov_b32, move<1>);
  set(t, Opcode::s_mov_b64, move<2>);
  set(t, Opcode::s_cselect_b32, select_by_scc<1>);
  set(t, Opcode::s_cselect_b64, select_by_scc<2>);
  set(t, Opcode::s_cmov_b32, move_by_scc<1>);
  set(t, Opcode::s_cmov_b64, move_by_scc<2>);
  set(t, Opcode::s_movk_i32, move_immediate);
  set(t, Opcode::s_cmovk_i32, move_immediate_by_scc);
}

}  // namespace orrery::shader::semantics
