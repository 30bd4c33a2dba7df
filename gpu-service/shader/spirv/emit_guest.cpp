// Guest addresses. On a GPU the usual access is straight code: it begins in the page table's window, at a multiple of
// its size. Everything else, and on a CPU device every access, is a call of a routine that walks the page table.
#include "gpu-service/shader/page_table_window.hpp"
#include "gpu-service/shader/spirv/conditional.hpp"

namespace orrery::shader::spirv {

using ir::Access;
using ir::Op;
using ir::Type;

namespace {

constexpr uint32_t kLargestAccess = 16;

// x2 and x4 are one load or store of a vector; x3 is three dwords.
uint32_t alignment_of(const Access& a) { return a.components == 3 ? 4u : uint32_t{a.bytes} * a.components; }
// What the routines are told of the place: the program offset, and whether it stores.
uint32_t where_of(const Access& a, bool stores) { return a.instruction * 2 + (stores ? 1 : 0); }

Routine numbered(Routine byte, Routine half, Routine first, const Access& a) {
  if (a.bytes < 4) return a.bytes == 1 ? byte : half;
  return static_cast<Routine>(static_cast<uint32_t>(first) + a.components - 1);
}

}  // namespace

// Loaded once an invocation. An access may begin up to the largest access' size in front of the window's end.
Id Emitter::window(uint32_t which) {
  if (windows_[which]) return windows_[which];
  const Id table = push(kPageTable), wide = module_.type(Type::u64);
  return windows_[which] = in_prelude([&] {
           const Id at = value(spv::OpIAdd, wide, {table, module_.u64(kLevel1Entries * 8 + which * 8)});
           const Id word = load_device(at, Type::u64);
           if (which != 1) return word;
           const Id none = value(spv::OpIEqual, bool_type(), {word, module_.u64(0)});
           const Id starts = value(spv::OpISub, wide, {word, module_.u64(kLargestAccess)});
           return select(wide, none, word, starts);
         });
}

Id Emitter::window_variable(uint32_t which) {
  Id& variable = window_variables_[which];
  if (variable) return variable;
  const Id word = window(which);
  variable = module_.variable(spv::StorageClassPrivate, module_.type(Type::u64));
  return in_prelude([&] {
    code(spv::OpStore, {variable, word});
    return variable;
  });
}

Id Emitter::is_usual(Id address, uint32_t multiple_of) {
  const Id wide = module_.type(Type::u64);
  const Id begin = window(0), starts = window(1);
  const Id offset = value(spv::OpISub, wide, {address, begin});
  const Id inside = value(spv::OpULessThan, bool_type(), {offset, starts});
  if (multiple_of == 1) return inside;
  const Id low = value(spv::OpUConvert, uint_type(), {address});
  const Id odd = binary(spv::OpBitwiseAnd, low, u32(multiple_of - 1));
  return value(spv::OpLogicalAnd, bool_type(), {inside, value(spv::OpIEqual, bool_type(), {odd, u32(0)})});
}

Emitter::Results Emitter::load_guest(const Access& a, Id address) {
  const uint32_t n = a.components;
  const auto by_routine = [&]() -> Results {
    const Routine r = numbered(Routine::load_byte, Routine::load_half, Routine::load_1, a);
    const Id type = n == 1 ? uint_type() : module_.vector(uint_type(), n);
    const Id loaded = value(spv::OpFunctionCall, type, {routine(r), address, u32(where_of(a, false))});
    if (n == 1) return {loaded};
    Results parts{};
    for (uint32_t c = 0; c < n; ++c) parts[c] = value(spv::OpCompositeExtract, uint_type(), {loaded, c});
    return parts;
  };
  if (o_.host.lockstep_subgroups) return by_routine();
  const auto usual = [&]() -> Results {
    const Id wide = module_.type(Type::u64);
    const Id at = value(spv::OpIAdd, wide, {address, window(2)});
    const uint32_t access =
        spv::MemoryAccessAlignedMask | (fresh_loads_ ? static_cast<uint32_t>(spv::MemoryAccessVolatileMask) : 0u);
    Results parts{};
    if (a.bytes < 4) {
      module_.capability(a.bytes == 1 ? spv::CapabilityStorageBuffer8BitAccess
                                      : spv::CapabilityStorageBuffer16BitAccess);
      const Id type = module_.integer(a.bytes * 8u);
      const Id loaded = value(spv::OpLoad, type, {device_pointer(at, type), access, a.bytes});
      return {value(spv::OpUConvert, uint_type(), {loaded})};
    }
    if (n == 1 || n == 3) {
      for (uint32_t c = 0; c < n; ++c) {
        const Id part = c == 0 ? at : value(spv::OpIAdd, wide, {at, module_.u64(4 * c)});
        parts[c] = load_device(part, Type::u32, fresh_loads_);
      }
      return parts;
    }
    const Id type = module_.vector(uint_type(), n);
    const Id whole = value(spv::OpLoad, type, {device_pointer(at, type), access, 4 * n});
    for (uint32_t c = 0; c < n; ++c) parts[c] = value(spv::OpCompositeExtract, uint_type(), {whole, c});
    return parts;
  };
  return either(is_usual(address, alignment_of(a)), uint_type(), n, usual, by_routine);
}

void Emitter::store_guest(const Access& a, Id address, const Results& data) {
  const uint32_t n = a.components;
  const auto by_routine = [&]() -> Results {
    const Routine r = numbered(Routine::store_byte, Routine::store_half, Routine::store_1, a);
    put(*code_, spv::OpFunctionCall,
        {module_.void_type(), module_.new_id(), routine(r), address, u32(where_of(a, true))}, {data.data(), n});
    return {};
  };
  if (o_.host.lockstep_subgroups) {
    by_routine();
    return;
  }
  const auto usual = [&]() -> Results {
    const Id wide = module_.type(Type::u64);
    const Id at = value(spv::OpIAdd, wide, {address, window(2)});
    if (a.bytes < 4) {
      module_.capability(a.bytes == 1 ? spv::CapabilityStorageBuffer8BitAccess
                                      : spv::CapabilityStorageBuffer16BitAccess);
      const Id type = module_.integer(a.bytes * 8u);
      const Id cut = value(spv::OpUConvert, type, {data[0]});
      code(spv::OpStore, {device_pointer(at, type), cut, static_cast<uint32_t>(spv::MemoryAccessAlignedMask), a.bytes});
    } else if (n == 1 || n == 3) {
      for (uint32_t c = 0; c < n; ++c) {
        store_device(c == 0 ? at : value(spv::OpIAdd, wide, {at, module_.u64(4 * c)}), Type::u32, data[c]);
      }
    } else {
      const Id type = module_.vector(uint_type(), n), whole = module_.new_id();
      put(*code_, spv::OpCompositeConstruct, {type, whole}, {data.data(), n});
      code(spv::OpStore, {device_pointer(at, type), whole, static_cast<uint32_t>(spv::MemoryAccessAlignedMask), 4 * n});
    }
    return {};
  };
  either(is_usual(address, alignment_of(a)), 0, 0, usual, by_routine);
}

// Where an atomic's place is on the device, 0: nowhere, and said so.
Id Emitter::locate_guest(const Access& a, Id address) {
  const Id wide = module_.type(Type::u64);
  const auto by_routine = [&]() -> Results {
    return {value(spv::OpFunctionCall, wide, {routine(Routine::locate_atomic), address, u32(where_of(a, true))})};
  };
  if (o_.host.lockstep_subgroups) return by_routine()[0];
  return either(
      is_usual(address, 1), wide, 1, [&]() -> Results { return {value(spv::OpIAdd, wide, {address, window(2)})}; },
      by_routine)[0];
}

void Emitter::emit_guest(uint32_t inst, const ir::Inst& i, const Access& a, uint32_t slot) {
  uses_page_table_ = true;
  const auto args = f_.args(i);
  const Id lanes = f_.at(args[0]).op == Op::constant ? 0 : id(args[0], slot);
  auto address = [&] {
    const Id wide = module_.type(Type::u64);
    Id at = id(args[1], slot);
    if (a.offset != 0)
      at = value(spv::OpIAdd, wide, {at, module_.u64(static_cast<uint64_t>(static_cast<int64_t>(a.offset)))});
    // A device may not survive an atomic at an odd address.
    if (i.op == Op::atomic) at = value(spv::OpBitwiseAnd, wide, {at, module_.u64(~uint64_t{a.bytes - 1u})});
    return at;
  };
  if (i.op == Op::load) {
    finish_load(inst, i, slot, conditional(lanes, uint_type(), a.components, [&] { return load_guest(a, address()); }));
  } else if (i.op == Op::store) {
    conditional(lanes, 0, 0, [&]() -> Results {
      Results data{};
      for (uint32_t c = 0; c < a.components; ++c) data[c] = id(args[2 + c], slot);
      store_guest(a, address(), data);
      return {};
    });
  } else {
    const Id type = module_.type(i.type);
    finish_load(inst, i, slot, conditional(lanes, type, 1, [&]() -> Results {
                  const Id found = locate_guest(a, address());
                  const Id present = value(spv::OpINotEqual, bool_type(), {found, module_.u64(0)});
                  return conditional(present, type, 1, [&]() -> Results {
                    return {atomic_on(a, device_pointer(found, type), i.type, id(args[2], slot),
                                      args.size() > 3 ? id(args[3], slot) : 0)};
                  });
                }));
  }
}

}  // namespace orrery::shader::spirv
