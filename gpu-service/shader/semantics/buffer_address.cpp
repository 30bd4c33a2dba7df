#include "gpu-service/shader/semantics/buffer_address.hpp"

#include "gpu-service/shader/binding_limit.hpp"
#include "gpu-service/shader/semantics/descriptor_trace.hpp"

namespace orrery::shader::semantics {

using ir::Space;

namespace {

Value flag(Builder& b, Value word, uint32_t bit) { return non_zero(b, b.land(word, b.u32(1u << bit))); }

// OOB_SELECT. Kind 0 checks record and offset within it; without a stride, or as kind 3, the byte offset is checked.
struct Check {
  Value raw, record_and_offset, record;
};
Check check_of(Builder& b, const BufferAccess& a, Value stride) {
  const Value kind = a.field(b, 3, 28, 2);
  auto is = [&](uint32_t n) { return b.compare(Op::ieq, kind, b.u32(n)); };
  const Value no_stride = b.compare(Op::ieq, stride, b.u32(0));
  return {b.lor(is(3), b.land(is(0), no_stride)), b.land(is(0), b.lnot(no_stride)), is(1)};
}

// x - y, 0 where that is negative.
Value below_by(Builder& b, Value x, Value y) { return b.sub(b.op(Op::umax, x, y), y); }

// The binding's own end is checked where it is used. Here: what the record check says, and that no sum of 32 bits
// wraps. A binding holds at most kMostBound bytes, so limits of that size let everything through that is inside.
Place bound_place(Builder& b, const BufferAccess& a, uint32_t behind, Value checked) {
  const Value stride = a.field(b, 1, 16, 14), most = b.u32(kMostBoundBytes), records = a.words[2];
  const Check check = check_of(b, a, stride);
  const Value before = b.u32(a.immediate + behind);
  // Index times stride stays below twice the most.
  const Value highest_bit = b.land(b.op(Op::find_umsb, Type::u32, {stride}), b.u32(31));
  const Value no_stride = b.compare(Op::ieq, stride, b.u32(0));
  const Value raw_indices = b.select(no_stride, b.u32(~0u), b.lshr(most, highest_bit));
  const Value indices = b.select(check.raw, raw_indices, records);
  const Value last = b.sub(b.add(before, checked), b.u32(1));
  const Value in_record = below_by(b, stride, last);
  Value offsets = b.select(check.raw, most, in_record);
  offsets = b.select(b.compare(Op::ult, a.scalar, most), offsets, b.u32(0));
  Value at = b.add(b.add(a.offset, before), a.scalar);
  at = b.add(at, b.op(Op::imul, a.index, stride));
  Value lanes = b.land(b.compare(Op::ult, a.index, indices), b.compare(Op::ult, a.offset, offsets));
  uint64_t one = 0;
  if (!b.is_constant(checked, one) || one != 1) {
    const Value end = b.add(at, b.sub(checked, b.u32(1)));
    lanes = b.land(lanes, b.lor(b.lnot(check.raw), b.compare(Op::ult, end, records)));
  }
  return {.space = Space::buffer, .lanes = b.land(b.exec(), lanes), .address = at, .binding = a.binding};
}

Place addressed_place(Builder& b, const BufferAccess& a, uint32_t behind, Value checked, Value bytes) {
  const Value adds_lane = flag(b, a.words[3], 23);
  // With thread ids the stride has four more bits, where the format is otherwise.
  const Value more = b.select(adds_lane, b.shl(a.field(b, 3, 12, 4), b.u32(14)), b.u32(0));
  const Value stride = b.lor(a.field(b, 1, 16, 14), more), records = b.zext(Type::u64, a.words[2]);
  const Value lane = b.select(adds_lane, b.lane_id(), b.u32(0));
  const Value index = b.add(b.zext(Type::u64, a.index), b.zext(Type::u64, lane));
  const Value offset = b.add(b.zext(Type::u64, a.offset), b.u64(a.immediate + uint64_t{behind}));
  const Value wide_stride = b.zext(Type::u64, stride), scalar = b.zext(Type::u64, a.scalar);
  const Value plain = b.add(b.op(Op::imul, index, wide_stride), offset);
  // Swizzled: records in bundles of 8, 16, 32 or 64 (index stride), interleaved by dword.
  const Value log = b.zext(Type::u64, b.add(a.field(b, 3, 21, 2), b.u32(3)));
  const Value bundle = b.lshr(index, log);
  const Value in_bundle = b.sub(index, b.shl(bundle, log));
  const Value row = b.add(b.op(Op::imul, bundle, wide_stride), b.land(offset, b.u64(~3ull)));
  const Value swizzled = b.add(b.shl(row, log), b.add(b.shl(in_bundle, b.u64(2)), b.land(offset, b.u64(3))));
  const Value place = b.select(flag(b, a.words[1], 31), swizzled, plain);
  const Check check = check_of(b, a, stride);
  const Value rest = b.zext(Type::u64, b.sub(checked, b.u32(1)));
  const Value has_record = b.compare(Op::ult, index, records);
  const Value in_bytes = b.compare(Op::ult, b.add(b.add(place, scalar), rest), records);
  const Value in_record = b.land(has_record, b.compare(Op::ult, b.add(offset, rest), wide_stride));
  const Value not_empty = b.compare(Op::ine, records, b.u64(0));
  const Value inside = b.select(
      check.raw, in_bytes, b.select(check.record_and_offset, in_record, b.select(check.record, has_record, not_empty)));
  const Value base = b.pack64(a.words[0], b.land(a.words[1], b.u32(0xffff)));
  const Value address = b.add(b.add(base, scalar), place);
  const Value aligned = b.land(address, b.lnot(b.zext(Type::u64, b.sub(bytes, b.u32(1)))));
  return {.space = Space::guest, .lanes = b.land(b.exec(), inside), .address = aligned};
}

}  // namespace

BufferAccess buffer_access(Builder& b, const Instruction& i) {
  BufferAccess a;
  for (uint32_t n = 0; n < 4; ++n) a.words[n] = b.sgpr((i.resource.index + n) & 127u);
  a.index = i.idxen ? b.vgpr(i.address.index) : b.u32(0);
  a.offset = i.offen ? b.vgpr((i.address.index + (i.idxen ? 1u : 0u)) & 255u) : b.u32(0);
  a.immediate = static_cast<uint32_t>(i.memory_offset);
  a.scalar = ir::read(b, i.scalar_offset, Type::u32);
  const auto source = trace_descriptor(b, a.words);
  // Private memory: with SCRATCH_EN the first four user registers are the private segment's descriptor
  // (docs/decisions/021).
  if ((b.options().rsrc2 & 1) && source && *source == DescriptorSource::user(0)) {
    a.route = BufferAccess::Route::scratch;
  } else if ((b.options().rsrc2 & 1) && !source && from_private_descriptor(b.function(), a.words[0])) {
    a.route = BufferAccess::Route::lost;
  } else if (source && b.options().bind_buffers) {
    a.route = BufferAccess::Route::bound;
    a.binding = b.binding(*source);
  } else if (!source) {
    b.note_computed(i.offset, source.error());
  }
  return a;
}

Place buffer_place(Builder& b, const BufferAccess& a, uint32_t behind, Value checked, Value bytes) {
  switch (a.route) {
    case BufferAccess::Route::bound:
      return bound_place(b, a, behind, checked);
    case BufferAccess::Route::scratch:
      // The scalar offset is not swizzled: a stack pointer there counts bytes of the whole wave.
      return {
          .space = Space::scratch,
          .lanes = b.exec(),
          .address = b.add(b.add(a.offset, b.u32(a.immediate + behind)), b.lshr(a.scalar, b.u32(b.wave64() ? 6 : 5)))};
    case BufferAccess::Route::addressed:
    case BufferAccess::Route::lost:
      break;
  }
  return addressed_place(b, a, behind, checked, bytes);
}

}  // namespace orrery::shader::semantics
