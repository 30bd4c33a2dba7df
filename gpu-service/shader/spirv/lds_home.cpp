// Where the group's LDS lies: workgroup memory, the same in views of 32 and 64 bits, or device memory (decision 024).
#include <algorithm>

#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::spirv {

using ir::Type;

namespace {

constexpr uint32_t kGroupMemory = 13u << 16, kLdsBase = 14u << 16;

}  // namespace

// A view of the group's workgroup memory in elements of 4 or 8 bytes.
Id Emitter::workgroup_view(uint32_t bytes) {
  Id& view = workgroup_[bytes == 8];
  if (view) return view;
  const Id element = module_.integer(bytes * 8);
  const uint32_t count = std::max(1u, lds_dwords_ * 4 / bytes);
  if (lds_home_ == LdsHome::workgroup) {
    return view = module_.variable(spv::StorageClassWorkgroup, module_.array(element, count));
  }
  module_.capability(spv::CapabilityWorkgroupMemoryExplicitLayoutKHR);
  const Id elements = module_.laid_out_array(element, count, bytes), block = module_.structure({elements});
  module_.decorate(block, spv::DecorationBlock);
  module_.member_decorate(block, 0, spv::DecorationOffset, {0});
  view = module_.variable(spv::StorageClassWorkgroup, block);
  module_.decorate(view, spv::DecorationAliased);
  return view;
}

// Device address of what the group has of device memory.
Id Emitter::group_memory() {
  Id& cached = entry_[kGroupMemory];
  if (cached) return cached;
  const Id group = linear_group(), memory = push(kScratch), wide = module_.type(Type::u64);
  return cached = in_prelude([&] {
           const Id number = value(spv::OpUConvert, wide, {group});
           const Id bytes = value(spv::OpIMul, wide, {number, module_.u64(group_memory_bytes())});
           return value(spv::OpIAdd, wide, {memory, bytes});
         });
}

uint64_t Emitter::group_memory_bytes() { return group_private_bytes() + (lds_in_memory() ? lds_dwords_ * 4 : 0); }

bool Emitter::lds_in_memory() const { return lds_home_ == LdsHome::memory && needs_.lds; }

Id Emitter::lds_base() {
  Id& cached = entry_[kLdsBase];
  if (cached) return cached;
  const Id group = group_memory();
  const uint64_t before = group_private_bytes();
  return cached = before == 0 ? group : in_prelude([&] {
           return value(spv::OpIAdd, module_.type(Type::u64), {group, module_.u64(before)});
         });
}

// To the u32 or u64 that a dword of LDS begins.
Id Emitter::lds_pointer(Id dword, uint32_t bytes) {
  const Id element = module_.integer(bytes * 8);
  if (lds_home_ == LdsHome::memory) return device_pointer(lds_address(dword), element);
  const Id type = module_.pointer(spv::StorageClassWorkgroup, element);
  const Id view = workgroup_view(bytes);
  const Id index = bytes == 8 ? binary(spv::OpShiftRightLogical, dword, u32(1)) : dword;
  if (lds_home_ == LdsHome::workgroup) return value(spv::OpAccessChain, type, {view, index});
  return value(spv::OpAccessChain, type, {view, u32(0), index});
}

Id Emitter::lds_address(Id dword) {
  const Id wide = module_.type(Type::u64), number = value(spv::OpUConvert, wide, {dword});
  return value(spv::OpIAdd, wide, {lds_base(), value(spv::OpShiftLeftLogical, wide, {number, module_.u64(2)})});
}

Id Emitter::lds_load(Id dword) {
  if (lds_home_ == LdsHome::memory) return load_device(lds_address(dword), Type::u32);
  return value(spv::OpLoad, uint_type(), {lds_pointer(dword, 4)});
}

void Emitter::lds_store(Id dword, Id data) {
  if (lds_home_ == LdsHome::memory) return store_device(lds_address(dword), Type::u32, data);
  code(spv::OpStore, {lds_pointer(dword, 4), data});
}

}  // namespace orrery::shader::spirv
