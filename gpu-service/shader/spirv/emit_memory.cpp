// Memory operations: each slot's access stands in its own `if (lane takes part)`, so nothing is touched speculatively.
#include "gpu-service/shader/descriptor_constants.hpp"
#include "gpu-service/shader/spirv/conditional.hpp"

namespace orrery::shader::spirv {

using ir::Access;
using ir::Op;
using ir::Space;
using ir::Type;

Id Emitter::device_pointer(Id address, Id pointed) {
  module_.capability(spv::CapabilityPhysicalStorageBufferAddresses);
  return value(spv::OpConvertUToPtr, module_.pointer(spv::StorageClassPhysicalStorageBuffer, pointed), {address});
}

Id Emitter::load_device(Id address, Type type, bool fresh) {
  const Id pointed = module_.type(type);
  const Id pointer = device_pointer(address, pointed);
  const uint32_t access =
      spv::MemoryAccessAlignedMask | (fresh ? static_cast<uint32_t>(spv::MemoryAccessVolatileMask) : 0u);
  return value(spv::OpLoad, pointed, {pointer, access, ir::bits_of(type) / 8});
}

void Emitter::store_device(Id address, Type type, Id data) {
  const Id pointer = device_pointer(address, module_.type(type));
  code(spv::OpStore, {pointer, data, spv::MemoryAccessAlignedMask, ir::bits_of(type) / 8});
}

void Emitter::store_device_small(Id address, uint32_t bits, Id data) {
  module_.capability(bits == 8 ? spv::CapabilityStorageBuffer8BitAccess : spv::CapabilityStorageBuffer16BitAccess);
  const Id type = module_.integer(bits);
  const Id cut = value(spv::OpUConvert, type, {data});
  code(spv::OpStore,
       {device_pointer(address, type), cut, static_cast<uint32_t>(spv::MemoryAccessAlignedMask), bits / 8});
}

void Emitter::finish_load(uint32_t inst, const ir::Inst& i, uint32_t slot, const Results& results) {
  const uint32_t count = components(i);
  if (lane_loop_.active) {
    const Id pointer = module_.pointer(spv::StorageClassFunction, module_.type(i.type));
    for (uint32_t n = 0; n < count; ++n) {
      code(spv::OpStore, {value(spv::OpAccessChain, pointer, {lane_loop_.results[n], lane_loop_.lane}), results[n]});
    }
    return;
  }
  if (start_[inst] == ~0u) {
    start_[inst] = static_cast<uint32_t>(ids_.size());
    ids_.resize(ids_.size() + slots(i) * count, 0);
  }
  for (uint32_t n = 0; n < count; ++n) {
    Id& known = ids_[start_[inst] + slot * count + n];
    if (known) {  // a loop's phi has named it already
      code(spv::OpCopyObject, {module_.type(i.type), known, results[n]});
    } else {
      known = results[n];
    }
  }
}

bool Emitter::emit_memory(uint32_t inst, const ir::Inst& i) {
  switch (i.op) {
    case Op::load:
    case Op::store:
    case Op::atomic:
      break;
    case Op::buffer_size:
      for (uint32_t slot = first_slot(); slot < end_slot(i); ++slot) alias(inst, slot, bound_info(i.imm)[1]);
      return true;
    case Op::bound_word: {
      const uint32_t buffer = i.imm / 4;
      const uint32_t number = DescriptorConstants(f_.images.size(), f_.samplers.size()).of_buffer(buffer, i.imm % 4);
      bound_[buffer].typed = true;
      const Id given = module_.specialized(0, Type::b1), word = module_.specialized(number, Type::u32);
      for (uint32_t slot = first_slot(); slot < end_slot(i); ++slot) {
        code(spv::OpSelect, {uint_type(), define(inst, slot), given, word, id(f_.args(i)[0], slot)});
      }
      return true;
    }
    case Op::group_barrier:
    case Op::memory_barrier:
    case Op::wave_fence:
      emit_barrier(i);
      return true;
    case Op::wave_wait:
      return true;
    default:
      return false;
  }
  const Access& a = f_.accesses[i.imm];
  if (i.op == Op::atomic && i.type == Type::u64 && a.space != Space::lds && !o_.host.buffer_int64_atomics) {
    refuse(a.instruction, "64-bit atomic; the device has none in buffers");
  }
  if (const ir::Inst& lanes = f_.at(f_.args(i)[0]); lanes.op == Op::constant && lanes.imm == 0) {
    // No lane takes part.
    for (uint32_t slot = first_slot(); i.op != Op::store && slot < end_slot(i); ++slot) {
      const Id none = module_.null(module_.type(i.type));
      finish_load(inst, i, slot, {none, none, none, none});
    }
    return true;
  }
  bool per_lane = i.per_lane || a.space == Space::scratch;
  for (ir::Value v : f_.args(i)) per_lane |= f_.insts[v.id].per_lane;
  // Lanes of a whole wave take the same code in turn; a private address is a constant of each lane's slot.
  // So do a few lanes on a CPU, where each copy of an image access costs its compiler more than a loop's rounds.
  const bool in_turn = subgroup_ == 1 || (a.space == Space::image && o_.host.lockstep_subgroups && k_ > 1);
  if (per_lane && in_turn && a.space != Space::scratch) {
    emit_lane_loop(inst, i, a);
    return true;
  }
  const uint32_t end = lone_slot_ != kNoSlot ? lone_slot_ + 1 : per_lane ? k_ : 1;
  for (uint32_t slot = first_slot(); slot < end; ++slot) emit_access(inst, i, a, slot);
  return true;
}

void Emitter::emit_access(uint32_t inst, const ir::Inst& i, const Access& a, uint32_t slot) {
  switch (a.space) {
    case Space::guest:
      return emit_guest(inst, i, a, slot);
    case Space::buffer:
      return emit_buffer(inst, i, a, slot);
    case Space::lds:
      return emit_lds(inst, i, a, slot);
    case Space::scratch:
      return emit_scratch(inst, i, a, slot);
    case Space::image:
      return emit_image(inst, i, a, slot);
    case Space::draw:
      return emit_draw_memory(inst, i, a, slot);
    case Space::output:
      return emit_output(i, a);
  }
}

void Emitter::emit_barrier(const ir::Inst& i) {
  if (pixel()) return;  // invocations of a fragment shader can't wait for each other
  const uint32_t all = spv::MemorySemanticsAcquireReleaseMask | spv::MemorySemanticsUniformMemoryMask |
                       spv::MemorySemanticsWorkgroupMemoryMask;
  if (i.op == Op::group_barrier) {
    code(spv::OpControlBarrier, {u32(spv::ScopeWorkgroup), u32(spv::ScopeWorkgroup), u32(all)});
  } else if (i.op == Op::memory_barrier) {
    // A lockstep device (a CPU) keeps its stores in order; its barriers would make waves wait for each other.
    if (o_.host.lockstep_subgroups) return;
    // Behind a barrier of the device, with nothing between, one of the group adds nothing.
    if (i.imm == 1 && code_->size() == behind_barrier_) return;
    code(spv::OpMemoryBarrier, {u32(i.imm == 1 ? spv::ScopeWorkgroup : spv::ScopeDevice),
                                u32(spv::MemorySemanticsAcquireReleaseMask | spv::MemorySemanticsUniformMemoryMask)});
    behind_barrier_ = i.imm == 0 ? code_->size() : 0;
  } else if (exchange_ == LaneExchange::workgroup) {
    code(spv::OpControlBarrier, {u32(spv::ScopeWorkgroup), u32(spv::ScopeWorkgroup), u32(all)});
  } else if (!o_.host.lockstep_subgroups && subgroup_ > 1) {
    code(spv::OpControlBarrier, {u32(spv::ScopeSubgroup), u32(spv::ScopeSubgroup), u32(all)});
  }
}

}  // namespace orrery::shader::spirv
