// Selection by a mask, reading and writing single lanes, counting lanes below.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr Type kU32 = Type::u32;

bool has_modifiers(const Operand& operand) { return operand.negate || operand.absolute; }

Outcome select_by_mask(Builder& b, const Instruction& i) {
  if (i.clamp || i.output_modifier != 0) return refuse("clamp or output modifier of v_cndmask_b32");
  // Modifiers are a float's; without any, the bits pass as they are.
  const bool floats = has_modifiers(i.sources[0]) || has_modifiers(i.sources[1]);
  const Type type = floats ? Type::f32 : kU32;
  const Value when_clear = source(b, i, 0, type, ir::Denormals::kept),
              when_set = source(b, i, 1, type, ir::Denormals::kept);
  result(b, i, b.as(kU32, b.select(source_mask(b, i, 2), when_set, when_clear)));
  return {};
}

// Off lanes are read too.
Outcome read_lane(Builder& b, const Instruction& i) {
  if (i.sources[0].kind != OperandKind::vgpr) return refuse("lane of what is no VGPR");
  const Value lane = b.land(scalar(b, i, 1), b.u32(b.wave64() ? 63 : 31));
  b.set_sgpr(i.destination.index, b.read_lane(b.vgpr(i.sources[0].index), lane));
  return {};
}

Outcome read_first_lane(Builder& b, const Instruction& i) {
  if (i.sources[0].kind == OperandKind::special) return refuse("lane of what is no VGPR");
  b.set_sgpr(i.destination.index, b.read_first_lane(read(b, i.sources[0], kU32)));
  return {};
}

Outcome write_lane(Builder& b, const Instruction& i) {
  const Value lane = b.land(scalar(b, i, 1), b.u32(b.wave64() ? 63 : 31));
  const Value chosen = b.compare(Op::ieq, b.lane_id(), lane);
  const uint32_t to = i.destination.index;
  b.set_vgpr_all_lanes(to, b.select(chosen, scalar(b, i, 0), b.vgpr(to)));
  return {};
}

// Bits of source 0 that stand for lanes below the own one (kFirst: of lanes kFirst .. kFirst + 31), plus source 1.
template <uint32_t kFirst>
Outcome count_below(Builder& b, const Instruction& i) {
  const Value addend = source(b, i, 1, kU32);
  if (kFirst == 32 && !b.wave64()) {
    result(b, i, addend);
    return {};
  }
  const Value mask = source(b, i, 0, kU32);
  const Value lane = kFirst == 0 ? b.lane_id() : b.op(Op::smax, b.sub(b.lane_id(), b.u32(32)), b.u32(0));
  const Value below = b.wave64() ? b.op(Op::umin, lane, b.u32(32)) : lane;
  uint64_t bits = 0;
  if (b.is_constant(mask, bits) && bits == 0xffffffff) {
    result(b, i, b.add(below, addend));
    return {};
  }
  Value ones = b.sub(b.shl(b.u32(1), below), b.u32(1));
  if (b.wave64() && kFirst == 0) ones = all_ones_if(b, b.compare(Op::ule, b.u32(32), lane), ones);
  result(b, i, b.add(b.op(Op::bit_count, b.land(mask, ones)), addend));
  return {};
}

// Any lane of the own row of 16, or (kOther) of the row beside it; selectors of four bits in sources 2:1. op_sel 0:
// inactive lanes may be read; op_sel 1 (bound control): lanes with nothing to read get 0 instead of keeping theirs.
template <bool kOther>
Outcome permute_row(Builder& b, const Instruction& i) {
  const bool fetch_inactive = (i.op_select & 1) != 0, bound_control = (i.op_select & 2) != 0;
  if (i.sources[0].kind != OperandKind::vgpr) return refuse("lanes of what is no VGPR");
  const Value lane = b.lane_id(), in_row = b.land(lane, b.u32(15));
  const Value word = b.select(b.compare(Op::ult, in_row, b.u32(8)), scalar(b, i, 1), scalar(b, i, 2));
  const Value chosen = b.land(b.lshr(word, b.shl(b.land(in_row, b.u32(7)), b.u32(2))), b.u32(15));
  Value row = b.land(lane, b.u32(48));
  if (kOther) row = b.lxor(row, b.u32(16));
  const Value from = b.lor(row, chosen);
  const uint32_t to = i.destination.index;
  const Value moved = b.shuffle(b.vgpr(i.sources[0].index), from);
  if (fetch_inactive || b.is_true(b.exec())) {
    b.set_vgpr(to, moved);
    return {};
  }
  const Value number = b.sgpr(Builder::kExec, b.wave64() ? Type::u64 : kU32);
  const Value bit = b.land(b.lshr(number, b.wave64() ? b.zext(Type::u64, from) : from), b.constant(b.type(number), 1));
  b.set_vgpr(to, b.select(non_zero(b, bit), moved, bound_control ? b.u32(0) : b.vgpr(to)));
  return {};
}

Outcome swap(Builder& b, const Instruction& i) {
  const uint32_t x = i.destination.index, y = i.sources[0].index;
  const Value old_x = b.vgpr(x), old_y = b.vgpr(y);
  b.set_vgpr(x, old_y);
  b.set_vgpr(y, old_x);
  return {};
}

}  // namespace

void add_vector_lanes(SemanticTable& t) {
  set(t, Opcode::v_cndmask_b32, select_by_mask);
  set(t, Opcode::v_readlane_b32, read_lane);
  set(t, Opcode::v_readfirstlane_b32, read_first_lane);
  set(t, Opcode::v_writelane_b32, write_lane);
  set(t, Opcode::v_mbcnt_lo_u32_b32, count_below<0>);
  set(t, Opcode::v_mbcnt_hi_u32_b32, count_below<32>);
  set(t, Opcode::v_permlane16_b32, permute_row<false>);
  set(t, Opcode::v_permlanex16_b32, permute_row<true>);
  set(t, Opcode::v_swap_b32, swap);
}

}  // namespace orrery::shader::semantics
