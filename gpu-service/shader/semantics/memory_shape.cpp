#include "gpu-service/shader/semantics/memory_shape.hpp"

#include "gpu-service/shader/semantics/private_atomic.hpp"

#include <array>
#include <optional>

namespace orrery::shader::semantics {

using ir::Access;
using ir::AtomicOp;
using ir::Builder;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

using Kind = MemoryShape::Kind;

bool take(std::string_view& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return true;
}

std::optional<AtomicOp> atomic_named(std::string_view name) {
  constexpr std::pair<std::string_view, AtomicOp> kNames[] = {
      {"swap", AtomicOp::swap},        {"cmpswap", AtomicOp::compare_swap},
      {"add", AtomicOp::add},          {"sub", AtomicOp::sub},
      {"smin", AtomicOp::smin},        {"umin", AtomicOp::umin},
      {"smax", AtomicOp::smax},        {"umax", AtomicOp::umax},
      {"and", AtomicOp::iand},         {"or", AtomicOp::ior},
      {"xor", AtomicOp::ixor},         {"inc", AtomicOp::inc},
      {"dec", AtomicOp::dec},          {"fmin", AtomicOp::fmin},
      {"fmax", AtomicOp::fmax},        {"fcmpswap", AtomicOp::fcompare_swap},
      {"csub", AtomicOp::clamped_sub},
  };
  for (const auto& [text, op] : kNames)
    if (text == name) return op;
  return std::nullopt;
}

MemoryShape parse(std::string_view name) {
  MemoryShape s;
  take(name, "t");  // tbuffer_
  if (!take(name, "buffer_") && !take(name, "global_") && !take(name, "flat_") && !take(name, "scratch_") &&
      !take(name, "image_")) {
    return s;
  }
  if (take(name, "atomic_")) {
    s.kind = Kind::unsupported;
    if (name.ends_with("_x2")) {
      s.bytes = 8;
      name.remove_suffix(3);
    }
    if (const auto op = atomic_named(name)) {
      s.atomic = *op;
      s.kind = Kind::atomic;
    }
    return s;
  }
  const bool load = take(name, "load_");
  if (!load && !take(name, "store_")) return s;
  s.kind = load ? Kind::load : Kind::store;
  if (take(name, "format_")) {
    s.typed = true;
    s.half = take(name, "d16_");
    s.high = take(name, "hi_");
    s.components = static_cast<uint8_t>(name.size());
    return s;
  }
  if (name.ends_with("_hi")) {
    s.high = true;
    name.remove_suffix(3);
  }
  if (name.ends_with("_d16")) {
    s.half = true;
    name.remove_suffix(4);
  }
  if (take(name, "dword")) {
    if (name == "x2")
      s.components = 2;
    else if (name == "x3")
      s.components = 3;
    else if (name == "x4")
      s.components = 4;
    else
      s.by_lane = name == "_addtid";
  } else if (name == "byte" || name == "ubyte" || name == "sbyte") {
    s.bytes = 1;
    s.sign_extend = name == "sbyte";
  } else if (name == "short" || name == "ushort" || name == "sshort") {
    s.bytes = 2;
    s.sign_extend = name == "sshort";
  } else {
    s.kind = Kind::unsupported;
  }
  return s;
}

Access access_of(const Instruction& i, const MemoryShape& shape, const Place& place) {
  return {.space = place.space,
          .bytes = shape.bytes,
          .components = shape.components,
          .coherent = i.glc || i.dlc || i.slc,
          .binding = place.binding,
          .offset = place.offset,
          .instruction = i.offset};
}

Value store_data(Builder& b, const Instruction& i, const MemoryShape& shape, uint32_t n) {
  const Value v = b.vgpr((i.data.index + n) & 255u);
  return shape.high ? b.lshr(v, b.u32(16)) : v;
}

void do_atomic(Builder& b, const Instruction& i, const MemoryShape& shape, std::span<const Place> places) {
  const bool wide = shape.bytes == 8;
  const uint32_t step = wide ? 2 : 1;
  const Type type = wide ? Type::u64 : Type::u32;
  const Value data = b.vgpr(i.data.index, type);
  const Value second = ir::has_second_operand(shape.atomic) ? b.vgpr((i.data.index + step) & 255u, type) : Value{};
  Value old;
  for (const Place& place : places) {
    Access a = access_of(i, shape, place);
    a.atomic = shape.atomic;
    a.returns = i.destination.kind == OperandKind::vgpr;
    const Value one = place.space == ir::Space::scratch ? private_atomic(b, a, place, data, second)
                                                        : b.atomic(a, place.lanes, place.address, data, second);
    old = old ? b.select(place.lanes, one, old) : one;
  }
  if (i.destination.kind == OperandKind::vgpr) b.set_vgpr(i.destination.index, old);
}

}  // namespace

const MemoryShape& memory_shape(Opcode opcode) {
  static const auto table = [] {
    std::array<MemoryShape, static_cast<size_t>(Opcode::count)> shapes;
    for (size_t n = 0; n < shapes.size(); ++n) shapes[n] = parse(mnemonic(static_cast<Opcode>(n)));
    return shapes;
  }();
  return table[static_cast<size_t>(opcode)];
}

Value load_component(Builder& b, const Instruction& i, const MemoryShape& shape, const Place& place, uint32_t n) {
  Access a = access_of(i, shape, place);
  a.components = 1;
  a.offset += static_cast<int32_t>(n * 4);
  return b.load(a, place.lanes, place.address)[0];
}

void store_component(Builder& b, const Instruction& i, const MemoryShape& shape, const Place& place, uint32_t n) {
  Access a = access_of(i, shape, place);
  a.components = 1;
  a.offset += static_cast<int32_t>(n * 4);
  const Value data[] = {store_data(b, i, shape, n)};
  b.store(a, place.lanes, place.address, data);
}

void write_loaded(Builder& b, const Instruction& i, const MemoryShape& shape, std::span<const Value> parts) {
  for (uint32_t n = 0; n < parts.size(); ++n) {
    const uint32_t to = (i.destination.index + n) & 255u;
    Value v = parts[n];
    if (shape.sign_extend) v = b.op(Op::bitfield_s, Type::u32, {v, b.u32(0), b.u32(shape.bytes * 8u)});
    if (shape.half) {
      const Value old = b.vgpr(to);
      if (shape.high)
        v = b.lor(b.shl(v, b.u32(16)), b.land(old, b.u32(0xffff)));
      else
        v = b.lor(b.land(v, b.u32(0xffff)), b.land(old, b.u32(0xffff0000)));
    }
    b.set_vgpr(to, v);
  }
}

void move_memory(Builder& b, const Instruction& i, const MemoryShape& shape, std::span<const Place> places) {
  if (shape.kind == Kind::atomic) return do_atomic(b, i, shape, places);
  if (shape.kind == Kind::store) {
    Value data[4];
    for (uint32_t n = 0; n < shape.components; ++n) data[n] = store_data(b, i, shape, n);
    for (const Place& place : places) {
      b.store(access_of(i, shape, place), place.lanes, place.address, std::span<const Value>(data, shape.components));
    }
    return;
  }
  std::array<Value, 4> parts;
  for (const Place& place : places) {
    const auto loaded = b.load(access_of(i, shape, place), place.lanes, place.address);
    for (uint32_t n = 0; n < shape.components; ++n) {
      parts[n] = parts[n] ? b.select(place.lanes, loaded[n], parts[n]) : loaded[n];
    }
  }
  write_loaded(b, i, shape, std::span(parts).first(shape.components));
}

}  // namespace orrery::shader::semantics
