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

// The binding's view in elements of 1, 2, 4 or 8 bytes; views of one binding alias each other.
Id Emitter::buffer_variable(uint32_t binding, uint32_t bytes) {
  Id& variable = buffer_variables_[binding][bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
  if (variable) return variable;
  if (bytes == 1) module_.capability(spv::CapabilityStorageBuffer8BitAccess);
  if (bytes == 2) module_.capability(spv::CapabilityStorageBuffer16BitAccess);
  Id& block = buffer_blocks_[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
  if (!block) {
    const Id elements = module_.runtime_array(module_.integer(bytes * 8));
    module_.decorate(elements, spv::DecorationArrayStride, {bytes});
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

void Emitter::emit_buffer(uint32_t inst, const ir::Inst& i, const Access& a, uint32_t slot) {
  const auto args = f_.args(i);
  if (i.op != Op::store) bound_[a.binding].read = true;
  if (i.op != Op::load) bound_[a.binding].written = true;
  bound_[a.binding].scalar |= a.scalar;
  const Id lanes = f_.at(args[0]).op == Op::constant ? 0 : id(args[0], slot);
  const auto [delta, size] = bound_info(a.binding);
  const Id variable = buffer_variable(a.binding, a.bytes);
  const Id element = module_.integer(a.bytes * 8u);
  const Id pointer_type = module_.pointer(spv::StorageClassStorageBuffer, element);
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
  auto pointer = [&](uint32_t n) {
    const Id at = n ? binary(spv::OpIAdd, index, u32(n)) : index;
    return value(spv::OpAccessChain, pointer_type, {variable, u32(0), at});
  };
  const uint32_t fresh = a.coherent ? static_cast<uint32_t>(spv::MemoryAccessVolatileMask) : 0u;
  if (i.op == Op::load) {
    finish_load(inst, i, slot, conditional(lanes, uint_type(), a.components, [&]() -> Results {
                  prepare();
                  Results parts{};
                  for (uint32_t n = 0; n < a.components; ++n) {
                    parts[n] = conditional(inside(n), uint_type(), 1, [&]() -> Results {
                      const Id loaded = fresh ? value(spv::OpLoad, element, {pointer(n), fresh})
                                              : value(spv::OpLoad, element, {pointer(n)});
                      return {a.bytes == 4 ? loaded : value(spv::OpUConvert, uint_type(), {loaded})};
                    })[0];
                  }
                  return parts;
                }));
  } else if (i.op == Op::store) {
    conditional(lanes, 0, 0, [&]() -> Results {
      prepare();
      for (uint32_t n = 0; n < a.components; ++n) {
        conditional(inside(n), 0, 0, [&]() -> Results {
          Id data = id(args[2 + n], slot);
          if (a.bytes < 4) data = value(spv::OpUConvert, element, {data});
          if (fresh)
            code(spv::OpStore, {pointer(n), data, fresh});
          else
            code(spv::OpStore, {pointer(n), data});
          return {};
        });
      }
      return {};
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
