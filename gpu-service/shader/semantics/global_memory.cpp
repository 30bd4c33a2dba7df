// GLOBAL, FLAT and SCRATCH: addresses in registers.
#include "gpu-service/shader/ir/dpp.hpp"
#include "gpu-service/shader/ir/operand.hpp"
#include "gpu-service/shader/semantics/load_to_lds.hpp"
#include "gpu-service/shader/semantics/memory_families.hpp"
#include "gpu-service/shader/semantics/memory_shape.hpp"

namespace orrery::shader::semantics {

using ir::Builder;
using ir::Op;
using ir::Outcome;
using ir::refuse;
using ir::Space;
using ir::Type;
using ir::Value;

namespace {

Outcome supported(const MemoryShape& shape) {
  if (shape.kind == MemoryShape::Kind::none || shape.kind == MemoryShape::Kind::unsupported)
    return refuse("no semantics");
  return {};
}

// What a lane loads goes to LDS, or to registers.
Outcome do_access(Builder& b, const Instruction& i, const MemoryShape& shape, std::span<const Place> places) {
  if (i.lds) return load_to_lds(b, i, load_component(b, i, shape, places[0], 0), shape);
  move_memory(b, i, shape, places);
  return {};
}

Outcome global(Builder& b, const Instruction& i) {
  const MemoryShape& shape = memory_shape(i.opcode);
  if (auto ok = supported(shape); !ok) return ok;
  Value address;
  if (shape.by_lane) {  // without a register the base is 0
    const Value base = i.base.kind == OperandKind::sgpr ? b.sgpr(i.base.index, Type::u64) : b.u64(0);
    address = b.add(base, b.zext(Type::u64, b.shl(b.lane_id(), b.u32(2))));
  } else if (i.base.kind == OperandKind::sgpr) {
    address = b.add(b.sgpr(i.base.index, Type::u64), b.zext(Type::u64, b.vgpr(i.address.index)));
  } else {
    address = b.vgpr(i.address.index, Type::u64);
  }
  const Place place[] = {{.space = Space::guest, .lanes = b.exec(), .address = address, .offset = i.memory_offset}};
  return do_access(b, i, shape, place);
}

// The high half of a generic address says whether it means LDS, private memory or guest memory.
Outcome flat(Builder& b, const Instruction& i) {
  const MemoryShape& shape = memory_shape(i.opcode);
  if (auto ok = supported(shape); !ok) return ok;
  const Value low = b.vgpr(i.address.index), high = b.vgpr((i.address.index + 1) & 255u);
  const TranslateOptions& o = b.options();
  const bool lds = ((o.rsrc2 >> 15) & 511) != 0, scratch = (o.rsrc2 & 1) != 0;
  auto in = [&](uint64_t aperture) { return b.compare(Op::ieq, high, b.u32(static_cast<uint32_t>(aperture >> 32))); };
  Value rest = b.exec();
  Place places[3];
  uint32_t count = 0;
  auto add = [&](Space space, uint64_t aperture) {
    const Value there = in(aperture);
    places[count++] = {.space = space, .lanes = b.land(b.exec(), there), .address = low, .offset = i.memory_offset};
    rest = b.land(rest, b.lnot(there));
  };
  if (lds) add(Space::lds, ir::kSharedAperture);
  if (scratch) add(Space::scratch, ir::kPrivateAperture);
  places[count++] = {.space = Space::guest, .lanes = rest, .address = b.pack64(low, high), .offset = i.memory_offset};
  move_memory(b, i, shape, std::span<const Place>(places, count));
  return {};
}

Outcome scratch(Builder& b, const Instruction& i) {
  const MemoryShape& shape = memory_shape(i.opcode);
  if (auto ok = supported(shape); !ok) return ok;
  Value address = b.u32(0);
  if (i.base.kind == OperandKind::sgpr)
    address = b.sgpr(i.base.index);
  else if (i.address.kind == OperandKind::vgpr)
    address = b.vgpr(i.address.index);
  const Place place[] = {{.space = Space::scratch, .lanes = b.exec(), .address = address, .offset = i.memory_offset}};
  return do_access(b, i, shape, place);
}

}  // namespace

void add_global_memory(ir::SemanticTable& table) {
  for (size_t n = 0; n < table.size(); ++n) {
    const auto opcode = static_cast<Opcode>(n);
    if (memory_shape(opcode).kind == MemoryShape::Kind::none) continue;
    const std::string_view name = mnemonic(opcode);
    if (name.starts_with("global_")) set(table, opcode, global);
    if (name.starts_with("flat_")) set(table, opcode, flat);
    if (name.starts_with("scratch_")) set(table, opcode, scratch);
  }
}

}  // namespace orrery::shader::semantics
