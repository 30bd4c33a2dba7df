// s_load and s_buffer_load: uniform loads of whole dwords.
#include "gpu-service/shader/semantics/descriptor_trace.hpp"
#include "gpu-service/shader/semantics/memory_families.hpp"
#include "gpu-service/shader/semantics/scalar_address.hpp"

namespace orrery::shader::semantics {

using ir::Access;
using ir::Space;

Value scalar_register_offset(Builder& b, const Instruction& i) {
  if (i.scalar_offset.kind == OperandKind::none) return {};
  return b.land(ir::read(b, i.scalar_offset, Type::u32), b.u32(~3u));
}

ScalarBuffer scalar_buffer(Builder& b, const Instruction& i) {
  std::array<Value, 4> words;
  for (uint32_t n = 0; n < 4; ++n) words[n] = b.sgpr(i.base.index + n);
  ScalarBuffer buffer;
  buffer.offset = b.u32(static_cast<uint32_t>(i.memory_offset) & ~3u);
  if (const Value more = scalar_register_offset(b, i); more) buffer.offset = b.add(buffer.offset, more);
  const Value stride = b.op(Op::bitfield_u, Type::u32, {words[1], b.u32(16), b.u32(14)});
  const Value none = b.compare(Op::ieq, stride, b.u32(0));
  buffer.size = b.select(none, words[2], b.op(Op::imul, words[2], stride));
  if (b.options().bind_buffers) {
    const auto source = trace_descriptor(b, words);
    if (source) {
      buffer.space = Space::buffer;
      buffer.binding = b.binding(*source);
      return buffer;
    }
    b.note_computed(i.offset, source.error());
  }
  buffer.base = b.pack64(b.land(words[0], b.u32(~3u)), b.land(words[1], b.u32(0xffff)));
  return buffer;
}

namespace {

void write_dwords(Builder& b, const Instruction& i, std::span<const Value> parts) {
  for (uint32_t n = 0; n < parts.size(); ++n) b.set_sgpr(i.destination.index + n, parts[n]);
}

Outcome load(Builder& b, const Instruction& i) {
  Value address = b.sgpr(i.base.index, Type::u64);
  if (const Value offset = scalar_register_offset(b, i); offset) {
    address = b.add(address, b.zext(Type::u64, offset));
  }
  Value parts[16];
  const uint32_t count = i.destination.dwords;
  for (uint32_t n = 0; n < count; n += 4) {
    const uint32_t some = std::min(4u, count - n);
    const Access a{.space = Space::guest,
                   .components = static_cast<uint8_t>(some),
                   .coherent = i.glc || i.dlc,
                   .offset = (i.memory_offset & ~3) + static_cast<int32_t>(n * 4),
                   .instruction = i.offset};
    const auto loaded = b.load(a, b.b1(true), address);
    for (uint32_t k = 0; k < some; ++k) parts[n + k] = loaded[k];
  }
  write_dwords(b, i, std::span<const Value>(parts, count));
  return {};
}

// Dwords behind the buffer's end are 0.
Outcome buffer_load(Builder& b, const Instruction& i) {
  const ScalarBuffer buffer = scalar_buffer(b, i);
  Value parts[16];
  const uint32_t count = i.destination.dwords;
  for (uint32_t n = 0; n < count; ++n) {
    const Value at = b.add(buffer.offset, b.u32(n * 4));
    const Value inside = b.land(b.compare(Op::ult, at, buffer.size), b.compare(Op::ule, b.u32(n * 4), at));
    const Access a{.space = buffer.space, .scalar = true, .binding = buffer.binding, .instruction = i.offset};
    parts[n] = b.load(a, inside, buffer.address(b, at))[0];
  }
  write_dwords(b, i, std::span<const Value>(parts, count));
  return {};
}

}  // namespace

void add_scalar_memory(ir::SemanticTable& table) {
  for (Opcode o : {Opcode::s_load_dword, Opcode::s_load_dwordx2, Opcode::s_load_dwordx4, Opcode::s_load_dwordx8,
                   Opcode::s_load_dwordx16})
    set(table, o, load);
  for (Opcode o : {Opcode::s_buffer_load_dword, Opcode::s_buffer_load_dwordx2, Opcode::s_buffer_load_dwordx4,
                   Opcode::s_buffer_load_dwordx8, Opcode::s_buffer_load_dwordx16})
    set(table, o, buffer_load);
}

}  // namespace orrery::shader::semantics
