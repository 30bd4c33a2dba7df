// MUBUF without format conversion: whole dwords, bytes, halves, atomics, and loads straight into LDS. Each dword of a
// wide access is checked by itself.
#include "gpu-service/shader/semantics/buffer_address.hpp"
#include "gpu-service/shader/semantics/buffer_typed.hpp"
#include "gpu-service/shader/semantics/load_to_lds.hpp"
#include "gpu-service/shader/semantics/memory_families.hpp"

namespace orrery::shader::semantics {

namespace {

using Kind = MemoryShape::Kind;
using Route = BufferAccess::Route;

Outcome buffer(Builder& b, const Instruction& i) {
  const MemoryShape& shape = memory_shape(i.opcode);
  if (shape.kind == Kind::none || shape.kind == Kind::unsupported) return refuse("no semantics");
  const BufferAccess access = buffer_access(b, i);
  if (access.route == Route::lost) return refuse("private memory through a descriptor that is not traced");
  if (access.route == Route::scratch && i.idxen) return refuse("indexed access to private memory");
  if (i.tfe && shape.kind != Kind::load) return refuse("TFE of a store");
  const Value bytes = b.u32(shape.bytes);
  auto place_of = [&](uint32_t n) {
    Place place = buffer_place(b, access, n * 4, shape.kind == Kind::atomic ? bytes : b.u32(1), bytes);
    place.offset = -static_cast<int32_t>(n * 4);  // the component adds it again
    return place;
  };
  // Nobody reads this lane's dwords between: one place for all of them.
  if (shape.components == 1 || access.route == Route::scratch) {
    const Place place[] = {place_of(0)};
    if (i.lds) return load_to_lds(b, i, load_component(b, i, shape, place[0], 0), shape);
    move_memory(b, i, shape, place);
  } else if (shape.kind == Kind::store) {
    for (uint32_t n = 0; n < shape.components; ++n) store_component(b, i, shape, place_of(n), n);
  } else {
    std::array<Value, 4> parts;
    for (uint32_t n = 0; n < shape.components; ++n) parts[n] = load_component(b, i, shape, place_of(n), n);
    write_loaded(b, i, shape, std::span<const Value>(parts).first(shape.components));
  }
  // The status behind the data: everything is resident.
  if (i.tfe) b.set_vgpr((i.destination.index + shape.components) & 255u, b.u32(0));
  return {};
}

}  // namespace

void add_buffer_memory(ir::SemanticTable& table) {
  for (size_t n = 0; n < table.size(); ++n) {
    const auto opcode = static_cast<Opcode>(n);
    const MemoryShape& shape = memory_shape(opcode);
    const std::string_view name = mnemonic(opcode);
    if (shape.kind == Kind::none || (!name.starts_with("buffer_") && !name.starts_with("tbuffer_"))) continue;
    set(table, opcode, shape.typed ? typed_buffer : buffer);
  }
}

}  // namespace orrery::shader::semantics
