// MUBUF without format conversion: V# in four SGPRs. Address calculation and range checking: RDNA 2 ISA document,
// chapter 8.
#include "gpu-service/shader/ir/operand.hpp"
#include "gpu-service/shader/semantics/descriptor_trace.hpp"
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

using Kind = MemoryShape::Kind;

struct Descriptor {
  std::array<Value, 4> words;
  Value field(Builder& b, uint32_t word, uint32_t first, uint32_t bits) const {
    return b.op(Op::bitfield_u, Type::u32, {words[word], b.u32(first), b.u32(bits)});
  }
  Value flag(Builder& b, uint32_t word, uint32_t bit) const {
    return b.compare(Op::ine, b.land(words[word], b.u32(1u << bit)), b.u32(0));
  }
  Value stride(Builder& b) const { return field(b, 1, 16, 14); }
  Value checks(Builder& b, uint32_t kind) const { return b.compare(Op::ieq, field(b, 3, 28, 2), b.u32(kind)); }
};

struct Offsets {
  Value index;   // record
  Value offset;  // bytes in the record, before the scalar offset
  Value scalar;
};

Offsets offsets_of(Builder& b, const Instruction& i) {
  Offsets o;
  o.index = i.idxen ? b.vgpr(i.address.index) : b.u32(0);
  o.offset = b.u32(static_cast<uint32_t>(i.memory_offset));
  if (i.offen) o.offset = b.add(b.vgpr((i.address.index + (i.idxen ? 1u : 0u)) & 255u), o.offset);
  o.scalar = ir::read(b, i.scalar_offset, Type::u32);
  return o;
}

// Lanes whose component at `offset` is inside what a structured descriptor checks; a raw one is checked by its size.
Value structured_lanes(Builder& b, const Descriptor& d, const Offsets& o, Value offset) {
  const Value structured = d.checks(b, 0), stride = d.stride(b), all = b.u32(~0u);
  const Value records = b.select(structured, d.words[2], all);
  const Value limit = b.select(b.land(structured, b.compare(Op::ine, stride, b.u32(0))), stride, all);
  return b.land(b.compare(Op::ult, o.index, records), b.compare(Op::ult, offset, limit));
}

// Bound: no swizzle and no thread id (preparation sees to that), checked structured or raw.
Place bound_place(Builder& b, const Descriptor& d, const Offsets& o, uint32_t binding, uint32_t component) {
  const Value offset = component ? b.add(o.offset, b.u32(component * 4)) : o.offset;
  Value at = b.add(offset, o.scalar);
  uint64_t bits = 0;
  if (!b.is_constant(o.index, bits) || bits != 0) at = b.add(at, b.op(Op::imul, o.index, d.stride(b)));
  return {.space = Space::buffer,
          .lanes = b.land(b.exec(), structured_lanes(b, d, o, offset)),
          .address = at,
          .binding = binding};
}

Place addressed_place(Builder& b, const Descriptor& d, const Offsets& o, uint32_t component, uint32_t bytes) {
  const Value offset = component ? b.add(o.offset, b.u32(component * 4)) : o.offset;
  const Value stride = d.stride(b), records = d.words[2];
  const Value index = b.add(o.index, b.select(d.flag(b, 3, 23), b.lane_id(), b.u32(0)));
  const Value plain = b.add(b.op(Op::imul, index, stride), offset);
  // Swizzled: records in bundles of index_stride, interleaved by dword.
  const Value log = b.add(d.field(b, 3, 21, 2), b.u32(3));
  const Value bundle = b.lshr(index, log);
  const Value in_bundle = b.sub(index, b.shl(bundle, log));
  const Value dword = b.land(offset, b.u32(~3u));
  const Value row = b.shl(b.add(b.op(Op::imul, bundle, stride), dword), log);
  const Value swizzled = b.add(row, b.add(b.shl(in_bundle, b.u32(2)), b.land(offset, b.u32(3))));
  const Value place = b.select(d.flag(b, 1, 31), swizzled, plain);
  // Out of range, by OOB_SELECT: 0 record and offset, 1 record, 2 only when empty, 3 bytes.
  const Value has_record = b.compare(Op::ult, index, records);
  const Value in_record = b.lor(b.compare(Op::ieq, stride, b.u32(0)), b.compare(Op::ult, offset, stride));
  const Value not_empty = b.compare(Op::ine, records, b.u32(0));
  const Value last = b.add(b.add(place, o.scalar), b.u32(bytes - 1));
  const Value raw = b.land(b.compare(Op::ult, last, records), b.compare(Op::ule, place, last));
  const Value structured = b.land(has_record, in_record);
  const Value inside = b.select(d.checks(b, 3), raw,
                                b.select(d.checks(b, 0), structured, b.select(d.checks(b, 1), has_record, not_empty)));
  const Value base = b.pack64(d.words[0], b.land(d.words[1], b.u32(0xffff)));
  const Value address = b.add(b.add(base, b.zext(Type::u64, o.scalar)), b.zext(Type::u64, place));
  return {.space = Space::guest, .lanes = b.land(b.exec(), inside), .address = address};
}

Outcome buffer(Builder& b, const Instruction& i) {
  const MemoryShape& shape = memory_shape(i.opcode);
  if (shape.kind == Kind::none || shape.kind == Kind::unsupported) return refuse("no semantics");
  if (i.lds) return refuse("load straight into LDS");
  if (i.tfe) return refuse("TFE");
  Descriptor d;
  for (uint32_t n = 0; n < 4; ++n) d.words[n] = b.sgpr((i.resource.index + n) & 127u);
  const Offsets o = offsets_of(b, i);
  const auto source = trace_descriptor(b, d.words);
  // Private memory: with SCRATCH_EN the first four user registers are the private segment's descriptor
  // (docs/decisions).
  if ((b.options().rsrc2 & 1) && source && *source == DescriptorSource{}) {
    if (i.idxen) return refuse("indexed access to private memory");
    const Place place[] = {{.space = Space::scratch, .lanes = b.exec(), .address = b.add(o.offset, o.scalar)}};
    move_memory(b, i, shape, place);
    return {};
  }
  const bool bind = source && b.options().bind_buffers;
  const uint32_t binding = bind ? b.binding(*source) : 0;
  auto place_of = [&](uint32_t n) {
    return bind ? bound_place(b, d, o, binding, n) : addressed_place(b, d, o, n, shape.bytes);
  };
  if (shape.components == 1) {
    const Place place[] = {place_of(0)};
    move_memory(b, i, shape, place);
    return {};
  }
  // Each dword is checked by itself.
  if (shape.kind == Kind::store) {
    for (uint32_t n = 0; n < shape.components; ++n) {
      Place place = place_of(n);
      place.offset = -static_cast<int32_t>(n * 4);  // store_component adds it again
      store_component(b, i, shape, place, n);
    }
    return {};
  }
  std::array<Value, 4> parts;
  for (uint32_t n = 0; n < shape.components; ++n) {
    Place place = place_of(n);
    place.offset = -static_cast<int32_t>(n * 4);
    parts[n] = load_component(b, i, shape, place, n);
  }
  write_loaded(b, i, shape, std::span<const Value>(parts).first(shape.components));
  return {};
}

}  // namespace

void add_buffer_memory(ir::SemanticTable& table) {
  for (size_t n = 0; n < table.size(); ++n) {
    const auto opcode = static_cast<Opcode>(n);
    if (memory_shape(opcode).kind != Kind::none && mnemonic(opcode).starts_with("buffer_")) set(table, opcode, buffer);
  }
}

}  // namespace orrery::shader::semantics
