// Bound buffers: storage buffer `binding`, addressed from the V#'s base.
#include "gpu-service/shader/spirv/conditional.hpp"

namespace orrery::shader::spirv {

using ir::Access;
using ir::Op;
using ir::Type;

std::array<Id, 2> Emitter::bound_info(uint32_t binding) {
  Id& delta = entry_[(12u << 16) + binding * 2];
  Id& size = entry_[(12u << 16) + binding * 2 + 1];
  if (delta) return {delta, size};
  const Id infos = push(kBoundInfo);
  const Id wide = module_.type(Type::u64);
  delta = in_prelude([&] {
    const Id at = value(spv::OpIAdd, wide, {infos, module_.u64(binding * sizeof(BoundInfo))});
    const Id pair = module_.vector(uint_type(), 2);
    const Id both =
        value(spv::OpLoad, pair, {device_pointer(at, pair), static_cast<uint32_t>(spv::MemoryAccessAlignedMask), 8});
    size = value(spv::OpCompositeExtract, uint_type(), {both, 1});
    return value(spv::OpCompositeExtract, uint_type(), {both, 0});
  });
  return {delta, size};
}

// The binding's view in elements of 1, 2, 4, 8 or 16 bytes; views of one binding alias each other. Eight bytes are a
// number for 64-bit atomics, or two dwords.
Id Emitter::buffer_variable(uint32_t binding, BufferView view) {
  const auto which = static_cast<size_t>(view);
  Id& variable = buffer_variables_[binding][which];
  if (variable) return variable;
  if (view == BufferView::byte) module_.capability(spv::CapabilityStorageBuffer8BitAccess);
  if (view == BufferView::half) module_.capability(spv::CapabilityStorageBuffer16BitAccess);
  Id& block = buffer_blocks_[which];
  if (!block) {
    const Id elements = module_.runtime_array(buffer_element(view));
    constexpr uint32_t kStrides[] = {1, 2, 4, 8, 8, 16};
    module_.decorate(elements, spv::DecorationArrayStride, {kStrides[which]});
    block = module_.structure({elements});
    module_.decorate(block, spv::DecorationBlock);
    module_.member_decorate(block, 0, spv::DecorationOffset, {0});
  }
  variable = module_.variable(spv::StorageClassStorageBuffer, block);
  module_.decorate(variable, spv::DecorationDescriptorSet, {0});
  module_.decorate(variable, spv::DecorationBinding, {binding});
  module_.decorate(variable, spv::DecorationAliased);
  return variable;
}

Id Emitter::buffer_element(BufferView view) {
  switch (view) {
    case BufferView::byte:
      return module_.integer(8);
    case BufferView::half:
      return module_.integer(16);
    case BufferView::dword:
      return module_.integer(32);
    case BufferView::number64:
      return module_.integer(64);
    case BufferView::two:
      return module_.vector(uint_type(), 2);
    case BufferView::four:
      return module_.vector(uint_type(), 4);
  }
  return 0;
}

void Emitter::emit_buffer(uint32_t inst, const ir::Inst& i, const Access& a, uint32_t slot) {
  const auto args = f_.args(i);
  if (i.op != Op::store) bound_[a.binding].read = true;
  if (i.op != Op::load) bound_[a.binding].written = true;
  bound_[a.binding].scalar |= a.scalar;
  const Id lanes = f_.at(args[0]).op == Op::constant ? 0 : id(args[0], slot);
  const auto [delta, size] = bound_info(a.binding);
  const BufferView view = a.bytes == 1   ? BufferView::byte
                          : a.bytes == 2 ? BufferView::half
                          : a.bytes == 4 ? BufferView::dword
                                         : BufferView::number64;
  const uint32_t shift = a.bytes == 1 ? 0 : a.bytes == 2 ? 1 : a.bytes == 4 ? 2 : 3;
  Id offset = 0, index = 0;
  auto prepare = [&] {
    offset = id(args[1], slot);
    if (a.offset) offset = binary(spv::OpIAdd, offset, u32(static_cast<uint32_t>(a.offset)));
    index = binary(spv::OpIAdd, offset, delta);
    if (shift) index = binary(spv::OpShiftRightLogical, index, u32(shift));
  };
  // Component n lies within what is bound: offset + 4 n < size, both multiples of the element.
  auto inside = [&](uint32_t n) {
    const Id at = n ? binary(spv::OpIAdd, offset, u32(n * a.bytes)) : offset;
    return value(spv::OpULessThan, bool_type(), {at, size});
  };
  auto both = [&](Id x, Id y) { return value(spv::OpLogicalAnd, bool_type(), {x, y}); };
  auto pointer_into = [&](BufferView v, Id at) {
    const Id type = module_.pointer(spv::StorageClassStorageBuffer, buffer_element(v));
    return value(spv::OpAccessChain, type, {buffer_variable(a.binding, v), u32(0), at});
  };
  auto pointer = [&](uint32_t n) { return pointer_into(view, n ? binary(spv::OpIAdd, index, u32(n)) : index); };
  const uint32_t fresh = a.coherent ? static_cast<uint32_t>(spv::MemoryAccessVolatileMask) : 0u;
  auto load_from = [&](Id from, Id type) {
    return fresh ? value(spv::OpLoad, type, {from, fresh}) : value(spv::OpLoad, type, {from});
  };
  auto store_to = [&](Id to, Id data) {
    if (fresh)
      code(spv::OpStore, {to, data, fresh});
    else
      code(spv::OpStore, {to, data});
  };
  // Several dwords that all lie within: together, as a vector where they stand at a multiple of it.
  const uint32_t count = a.components;
  const bool vector = count == 2 || count == 4;
  const BufferView wide = count == 2 ? BufferView::two : BufferView::four;
  auto all_inside = [&] { return both(inside(0), inside(count - 1)); };
  auto stands_well = [&] {
    const Id odd = binary(spv::OpBitwiseAnd, index, u32(count - 1));
    return value(spv::OpIEqual, bool_type(), {odd, u32(0)});
  };
  auto vector_index = [&] { return binary(spv::OpShiftRightLogical, index, u32(count == 2 ? 1 : 2)); };
  if (i.op == Op::load) {
    const Id element = buffer_element(view);
    auto one = [&](uint32_t n) {
      const Id loaded = load_from(pointer(n), element);
      return a.bytes == 4 ? loaded : value(spv::OpUConvert, uint_type(), {loaded});
    };
    auto each = [&]() -> Results {
      Results parts{};
      for (uint32_t n = 0; n < count; ++n) {
        parts[n] = conditional(inside(n), uint_type(), 1, [&]() -> Results { return {one(n)}; })[0];
      }
      return parts;
    };
    auto together = [&]() -> Results {
      Results parts{};
      for (uint32_t n = 0; n < count; ++n) parts[n] = one(n);
      return parts;
    };
    auto as_vector = [&]() -> Results {
      const Id whole = load_from(pointer_into(wide, vector_index()), buffer_element(wide));
      Results parts{};
      for (uint32_t n = 0; n < count; ++n) parts[n] = value(spv::OpCompositeExtract, uint_type(), {whole, n});
      return parts;
    };
    finish_load(inst, i, slot, conditional(lanes, uint_type(), count, [&]() -> Results {
                  prepare();
                  if (count == 1 || o_.host.lockstep_subgroups) return each();
                  if (!vector) return either(all_inside(), uint_type(), count, together, each);
                  const Id within = all_inside();
                  return either(both(within, stands_well()), uint_type(), count, as_vector,
                                [&] { return either(within, uint_type(), count, together, each); });
                }));
  } else if (i.op == Op::store) {
    const Id element = buffer_element(view);
    auto one = [&](uint32_t n) {
      Id data = id(args[2 + n], slot);
      if (a.bytes < 4) data = value(spv::OpUConvert, element, {data});
      store_to(pointer(n), data);
    };
    auto each = [&]() -> Results {
      for (uint32_t n = 0; n < count; ++n) {
        conditional(inside(n), 0, 0, [&]() -> Results {
          one(n);
          return {};
        });
      }
      return {};
    };
    auto together = [&]() -> Results {
      for (uint32_t n = 0; n < count; ++n) one(n);
      return {};
    };
    auto as_vector = [&]() -> Results {
      std::array<Id, 4> data{};
      for (uint32_t n = 0; n < count; ++n) data[n] = id(args[2 + n], slot);
      const Id whole = module_.new_id();
      put(*code_, spv::OpCompositeConstruct, {buffer_element(wide), whole}, {data.data(), count});
      store_to(pointer_into(wide, vector_index()), whole);
      return {};
    };
    conditional(lanes, 0, 0, [&]() -> Results {
      prepare();
      if (count == 1 || o_.host.lockstep_subgroups) return each();
      if (!vector) return either(all_inside(), 0, 0, together, each);
      const Id within = all_inside();
      return either(both(within, stands_well()), 0, 0, as_vector, [&] { return either(within, 0, 0, together, each); });
    });
  } else {
    const Id type = module_.type(i.type);
    finish_load(
        inst, i, slot, conditional(lanes, type, 1, [&]() -> Results {
          prepare();
          return conditional(inside(0), type, 1, [&]() -> Results {
            return {atomic_on(a, pointer(0), i.type, id(args[2], slot), args.size() > 3 ? id(args[3], slot) : 0)};
          });
        }));
  }
}

}  // namespace orrery::shader::spirv
