// Guest addresses. On a GPU the usual access is straight code: it begins in the page table's window, at a multiple of
// its size. Everything else, and on a CPU device every access, is a call of a routine that walks the page table.
#include <algorithm>

#include "gpu-service/shader/page_table_window.hpp"
#include "gpu-service/shader/spirv/conditional.hpp"

namespace orrery::shader::spirv {

using ir::Access;
using ir::Op;
using ir::Type;

namespace {

constexpr int64_t kFarthestApart = 4096;  // constant places that are asked for together
constexpr uint32_t kLargestAccess = 16;

// Of a vector unit's x2 and x4, which are one load or store of a vector where they stand at a multiple of it. What the
// scalar unit loads stands at a multiple of a dword more often than not (arguments of a kernel).
bool is_vector(const Access& a) { return !a.scalar && (a.components == 2 || a.components == 4); }
uint32_t alignment_of(const Access& a) { return is_vector(a) ? uint32_t{a.bytes} * a.components : a.bytes; }
// What the routines are told of the place: the program offset, and whether it stores.
uint32_t where_of(const Access& a, bool stores) { return a.instruction * 2 + (stores ? 1 : 0); }

Routine numbered(Routine byte, Routine half, Routine first, const Access& a) {
  if (a.bytes < 4) return a.bytes == 1 ? byte : half;
  return static_cast<Routine>(static_cast<uint32_t>(first) + a.components - 1);
}

}  // namespace

// Loaded once an invocation. The last accesses that may begin in it end within it.
Id Emitter::window(uint32_t which) {
  if (windows_[which]) return windows_[which];
  const Id table = push(kPageTable), wide = module_.type(Type::u64);
  return windows_[which] = in_prelude([&] {
           const Id at = value(spv::OpIAdd, wide, {table, module_.u64(kLevel1Entries * 8 + which * 8)});
           const Id word = load_device(at, Type::u64);
           if (which != 1) return word;
           const Id none = value(spv::OpIEqual, bool_type(), {word, module_.u64(0)});
           const Id starts = value(spv::OpISub, wide, {word, module_.u64(kFarthestApart + kLargestAccess)});
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

Emitter::Results Emitter::load_by_routine(const Access& a, Id address) {
  const uint32_t n = a.components;
  const Routine r = numbered(Routine::load_byte, Routine::load_half, Routine::load_1, a);
  const Id type = n == 1 ? uint_type() : module_.vector(uint_type(), n);
  const Id loaded = value(spv::OpFunctionCall, type, {routine(r), address, u32(where_of(a, false))});
  if (n == 1) return {loaded};
  Results parts{};
  for (uint32_t c = 0; c < n; ++c) parts[c] = value(spv::OpCompositeExtract, uint_type(), {loaded, c});
  return parts;
}

// At a device address that is a multiple of its size (as_vector), or of its elements'.
Emitter::Results Emitter::load_window(const Access& a, Id at, bool as_vector) {
  const uint32_t n = a.components;
  const Id wide = module_.type(Type::u64);
  const uint32_t access =
      spv::MemoryAccessAlignedMask | (fresh_loads_ ? static_cast<uint32_t>(spv::MemoryAccessVolatileMask) : 0u);
  Results parts{};
  if (a.bytes < 4) {
    module_.capability(a.bytes == 1 ? spv::CapabilityStorageBuffer8BitAccess : spv::CapabilityStorageBuffer16BitAccess);
    const Id type = module_.integer(a.bytes * 8u);
    const Id loaded = value(spv::OpLoad, type, {device_pointer(at, type), access, a.bytes});
    return {value(spv::OpUConvert, uint_type(), {loaded})};
  }
  if (!as_vector) {
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
}

Emitter::Results Emitter::load_guest(const Access& a, Id address) {
  if (o_.host.lockstep_subgroups) return load_by_routine(a, address);
  const auto in_window = [&](bool as_vector) {
    return load_window(a, value(spv::OpIAdd, module_.type(Type::u64), {address, window(2)}), as_vector);
  };
  const auto in_parts = [&] {
    return either(
        is_usual(address, a.bytes), uint_type(), a.components, [&] { return in_window(false); },
        [&] { return load_by_routine(a, address); });
  };
  if (!is_vector(a)) return in_parts();
  return either(
      is_usual(address, alignment_of(a)), uint_type(), a.components, [&] { return in_window(true); }, in_parts);
}

std::span<const uint32_t> Emitter::adjacent_loads(std::span<const uint32_t> body) const {
  if (!alone() || o_.host.lockstep_subgroups) return {};
  size_t count = 0;
  for (; count < body.size(); ++count) {
    const ir::Inst& i = f_.insts[body[count]];
    if (i.op != Op::load || f_.accesses[i.imm].space != ir::Space::guest || f_.type({body[count]}) != Type::u32) break;
    if (f_.args(i)[0] != f_.args(f_.insts[body[0]])[0]) break;
  }
  return body.first(count);
}

void Emitter::emit_loads(std::span<const uint32_t> loads) {
  uses_page_table_ = true;
  const uint32_t slot = first_slot();
  const Id wide = module_.type(Type::u64);
  const auto access_of = [&](uint32_t id) -> const Access& { return f_.accesses[f_.insts[id].imm]; };
  const auto base_of = [&](uint32_t id) { return f_.args(f_.insts[id])[1]; };
  const ir::Inst& lanes = f_.at(f_.args(f_.insts[loads[0]])[0]);
  if (lanes.op == Op::constant && lanes.imm == 0) {
    for (const uint32_t id : loads) emit_inst(id);
    return;
  }
  std::vector<Id> parts;
  const auto all = [&](auto load_one) {
    std::vector<Id> out;
    for (const uint32_t id : loads) {
      const Results one = load_one(id);
      out.insert(out.end(), one.begin(), one.begin() + access_of(id).components);
    }
    return out;
  };
  // Whether all are usual, as vectors or in parts.
  const auto are_usual = [&](bool as_vectors) {
    const auto multiple_of = [&](const Access& a) { return as_vectors ? alignment_of(a) : a.bytes; };
    Id usual = 0;
    std::vector<bool> asked(loads.size());
    for (size_t n = 0; n < loads.size(); ++n) {
      if (asked[n]) continue;
      // Loads at constant places behind one address are asked for together.
      const Access& first = access_of(loads[n]);
      int64_t low = first.offset, high = first.offset;
      uint32_t multiple = multiple_of(first);
      for (size_t m = n; m < loads.size(); ++m) {
        const Access& a = access_of(loads[m]);
        const int64_t begin = std::min<int64_t>(low, a.offset), end = std::max<int64_t>(high, a.offset);
        if (base_of(loads[m]) != base_of(loads[n]) || end - begin > kFarthestApart) continue;
        if ((a.offset - begin) % multiple_of(a) != 0 || (low - begin) % multiple != 0) continue;
        low = begin;
        high = end;
        multiple = std::max<uint32_t>(multiple, multiple_of(a));
        asked[m] = true;
      }
      Id address = id(base_of(loads[n]), slot);
      if (low != 0) address = value(spv::OpIAdd, wide, {address, module_.u64(static_cast<uint64_t>(low))});
      const Id one = is_usual(address, multiple);
      usual = usual ? value(spv::OpLogicalAnd, bool_type(), {usual, one}) : one;
    }
    return usual;
  };
  const auto in_window = [&](bool as_vectors) {
    std::vector<std::pair<ir::Value, Id>> bases;
    return all([&](uint32_t load) {
      const Access& a = access_of(load);
      auto known = std::ranges::find(bases, base_of(load), &std::pair<ir::Value, Id>::first);
      if (known == bases.end()) {
        bases.emplace_back(base_of(load), value(spv::OpIAdd, wide, {id(base_of(load), slot), window(2)}));
        known = bases.end() - 1;
      }
      const int64_t offset = a.offset;
      const Id at = offset == 0 ? known->second
                                : value(spv::OpIAdd, wide, {known->second, module_.u64(static_cast<uint64_t>(offset))});
      return load_window(a, at, as_vectors && is_vector(a));
    });
  };
  const auto by_routine = [&] {
    return all([&](uint32_t load) {
      return load_by_routine(access_of(load), guest_address(f_.insts[load], access_of(load), slot));
    });
  };
  const bool vectors = std::ranges::any_of(loads, [&](uint32_t load) { return is_vector(access_of(load)); });
  const auto in_parts = [&] { return joined(are_usual(false), [&] { return in_window(false); }, by_routine); };
  const auto write = [&] {
    return vectors ? joined(are_usual(true), [&] { return in_window(true); }, in_parts) : in_parts();
  };
  if (lanes.op == Op::constant) {
    parts = write();
  } else {
    parts = joined(id(f_.args(f_.insts[loads[0]])[0], slot), write, [] { return std::vector<Id>{}; });
  }
  size_t at = 0;
  for (const uint32_t load : loads) {
    Results results{};
    for (uint32_t c = 0; c < access_of(load).components; ++c) results[c] = parts[at++];
    finish_load(load, f_.insts[load], slot, results);
  }
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
  const auto in_window = [&](bool as_vector) -> Results {
    const Id wide = module_.type(Type::u64);
    const Id at = value(spv::OpIAdd, wide, {address, window(2)});
    if (a.bytes < 4) {
      module_.capability(a.bytes == 1 ? spv::CapabilityStorageBuffer8BitAccess
                                      : spv::CapabilityStorageBuffer16BitAccess);
      const Id type = module_.integer(a.bytes * 8u);
      const Id cut = value(spv::OpUConvert, type, {data[0]});
      code(spv::OpStore, {device_pointer(at, type), cut, static_cast<uint32_t>(spv::MemoryAccessAlignedMask), a.bytes});
    } else if (!as_vector) {
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
  const auto in_parts = [&]() -> Results {
    return either(is_usual(address, a.bytes), 0, 0, [&] { return in_window(false); }, by_routine);
  };
  if (is_vector(a))
    either(is_usual(address, alignment_of(a)), 0, 0, [&] { return in_window(true); }, in_parts);
  else
    in_parts();
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

Id Emitter::guest_address(const ir::Inst& i, const Access& a, uint32_t slot) {
  const Id base = id(f_.args(i)[1], slot);
  if (a.offset == 0) return base;
  return value(spv::OpIAdd, module_.type(Type::u64),
               {base, module_.u64(static_cast<uint64_t>(static_cast<int64_t>(a.offset)))});
}

void Emitter::emit_guest(uint32_t inst, const ir::Inst& i, const Access& a, uint32_t slot) {
  uses_page_table_ = true;
  const auto args = f_.args(i);
  const Id lanes = f_.at(args[0]).op == Op::constant ? 0 : id(args[0], slot);
  auto address = [&] {
    const Id at = guest_address(i, a, slot);
    // A device may not survive an atomic at an odd address.
    if (i.op != Op::atomic) return at;
    return value(spv::OpBitwiseAnd, module_.type(Type::u64), {at, module_.u64(~uint64_t{a.bytes - 1u})});
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
