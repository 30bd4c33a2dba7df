// Moves whose register numbers M0 shifts. A number that is no constant makes a choice among all registers the wave has.
#include <functional>

#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

constexpr Type kU32 = Type::u32;
constexpr uint32_t kSgprs = 106;

// Allocated: VGPRS of COMPUTE_PGM_RSRC1 5:0 counts eights (wave64: fours), less one.
uint32_t vgprs(const Builder& b) { return std::min(256u, ((b.options().rsrc1 & 63) + 1) * (b.wave64() ? 4 : 8)); }

// ISA document, "Out-of-range behavior": sources outside read register 0, results outside are dropped.
Value at_index(Builder& b, Value index, uint32_t first, uint32_t count, const std::function<Value(uint32_t)>& read) {
  uint64_t constant = 0;
  if (b.is_constant(index, constant)) return read(constant < count ? static_cast<uint32_t>(constant) : 0);
  Value v = read(0);
  for (uint32_t n = first; n < count; ++n) v = b.select(b.compare(Op::ieq, index, b.u32(n)), read(n), v);
  return v;
}

void for_index(Builder& b, Value index, uint32_t first, uint32_t count,
               const std::function<void(uint32_t, Value)>& write) {
  uint64_t constant = 0;
  if (b.is_constant(index, constant)) {
    if (constant < count) write(static_cast<uint32_t>(constant), b.b1(true));
    return;
  }
  for (uint32_t n = first; n < count; ++n) write(n, b.compare(Op::ieq, index, b.u32(n)));
}

enum class Offset : uint8_t { none, whole, low, high };

Value shifted(Builder& b, uint32_t index, Offset offset) {
  const Value m0 = b.sgpr(Builder::kM0);
  switch (offset) {
    case Offset::none:
      return b.u32(index);
    case Offset::whole:
      return b.add(b.u32(index), m0);
    case Offset::low:
      return b.add(b.u32(index), b.land(m0, b.u32(0x3ff)));
    case Offset::high:
      return b.add(b.u32(index), b.land(b.lshr(m0, b.u32(16)), b.u32(0x3ff)));
  }
  return {};
}

Value vgpr_at(Builder& b, uint32_t index, Offset offset) {
  return at_index(b, shifted(b, index, offset), offset == Offset::whole ? 0 : index, vgprs(b),
                  [&](uint32_t n) { return b.vgpr(n); });
}
void set_vgpr_at(Builder& b, uint32_t index, Offset offset, Value v) {
  for_index(b, shifted(b, index, offset), offset == Offset::whole ? 0 : index, vgprs(b),
            [&](uint32_t n, Value here) { b.set_vgpr(n, b.select(here, v, b.vgpr(n))); });
}

template <Offset kFrom, Offset kTo>
Outcome move_vector(Builder& b, const Instruction& i) {
  if (i.sdwa.present || i.dpp.kind != Dpp::Kind::none) return refuse("relative move with SDWA or DPP");
  if (kFrom != Offset::none && i.sources[0].kind != OperandKind::vgpr) return refuse("relative source that is no VGPR");
  const Value v = kFrom == Offset::none ? source(b, i, 0, kU32) : vgpr_at(b, i.sources[0].index, kFrom);
  if (kTo == Offset::none) {
    b.set_vgpr(i.destination.index, v);
  } else {
    set_vgpr_at(b, i.destination.index, kTo, v);
  }
  return {};
}

Outcome swap(Builder& b, const Instruction& i) {
  const uint32_t x = i.destination.index, y = i.sources[0].index;
  const Value of_x = vgpr_at(b, x, Offset::high), of_y = vgpr_at(b, y, Offset::low);
  set_vgpr_at(b, x, Offset::high, of_y);
  set_vgpr_at(b, y, Offset::low, of_x);
  return {};
}

template <Offset kFrom, Offset kTo, uint32_t kDwords>
Outcome move_scalar(Builder& b, const Instruction& i) {
  constexpr Type kType = kDwords == 2 ? Type::u64 : kU32;
  const Operand& from = i.sources[0];
  if (kFrom != Offset::none && (from.kind != OperandKind::sgpr || from.index >= kSgprs)) {
    return refuse("relative source that is no SGPR");
  }
  const uint32_t to = i.destination.index;
  if (kTo != Offset::none && to >= kSgprs) return refuse("relative result that is no SGPR");
  Value v;
  if (kFrom == Offset::none) {
    v = scalar(b, i, 0, kType);
  } else {
    v = at_index(b, shifted(b, from.index, kFrom), kFrom == Offset::whole ? 0 : from.index, kSgprs + 1 - kDwords,
                 [&](uint32_t n) { return b.sgpr(n, kType); });
  }
  if (kTo == Offset::none) {
    b.set_sgpr(to, v);
    return {};
  }
  for_index(b, shifted(b, to, kTo), kTo == Offset::whole ? 0 : to, kSgprs + 1 - kDwords, [&](uint32_t n, Value here) {
    for (uint32_t word = 0; word < kDwords; ++word) {
      const Value part = kDwords == 1 ? v : word == 0 ? b.low32(v) : b.high32(v);
      b.set_sgpr(n + word, b.select(here, part, b.sgpr(n + word)));
    }
  });
  return {};
}

}  // namespace

void add_relative_moves(SemanticTable& t) {
  using enum Offset;
  set(t, Opcode::v_movreld_b32, move_vector<none, whole>);
  set(t, Opcode::v_movrels_b32, move_vector<whole, none>);
  set(t, Opcode::v_movrelsd_b32, move_vector<whole, whole>);
  set(t, Opcode::v_movrelsd_2_b32, move_vector<low, high>);
  set(t, Opcode::v_swaprel_b32, swap);
  set(t, Opcode::s_movreld_b32, move_scalar<none, whole, 1>);
  set(t, Opcode::s_movreld_b64, move_scalar<none, whole, 2>);
  set(t, Opcode::s_movrels_b32, move_scalar<whole, none, 1>);
  set(t, Opcode::s_movrels_b64, move_scalar<whole, none, 2>);
  set(t, Opcode::s_movrelsd_2_b32, move_scalar<low, high, 1>);
}

}  // namespace orrery::shader::semantics
