// Private (scratch) memory: variables of the invocation where it is small, a device buffer otherwise.
#include <algorithm>

#include "gpu-service/shader/spirv/conditional.hpp"

namespace orrery::shader::spirv {

using ir::Access;
using ir::Op;
using ir::Type;

namespace {

// Dwords that an invocation may have in variables of its own. A GPU reserves them for every invocation that it can
// hold; on a CPU device they are a piece of stack.
constexpr uint32_t kMostOnGpu = 1024, kMostOnCpu = 8192;

}  // namespace

// Spills lie at constant addresses: only as much as they reach is wanted. Anything else may reach all of it.
uint32_t Emitter::private_dwords() const {
  uint32_t most = 0;
  for (const ir::Block& block : f_.blocks) {
    for (const uint32_t id : block.body) {
      const ir::Inst& i = f_.insts[id];
      if (i.op != Op::load && i.op != Op::store) continue;
      const Access& a = f_.accesses[i.imm];
      if (a.space != ir::Space::scratch) continue;
      const ir::Inst& address = f_.at(f_.args(i)[1]);
      if (address.op != Op::constant) return o_.scratch_dwords;
      const uint64_t first = (address.imm + static_cast<uint32_t>(a.offset)) / 4;
      most = std::max(most, static_cast<uint32_t>(std::min<uint64_t>(o_.scratch_dwords, first + a.components)));
    }
  }
  return most;
}

// A slot's private memory as an array; none (0) when it is too large.
Id Emitter::private_array(uint32_t slot) {
  if (!private_known_) {
    private_known_ = true;
    private_dwords_ = private_dwords();
    const uint32_t limit = o_.host.lockstep_subgroups ? kMostOnCpu : kMostOnGpu;
    if (uint64_t{private_dwords_} * k_ > limit) return 0;
    private_arrays_.resize(k_);
    const Id array = module_.array(uint_type(), std::max(1u, private_dwords_));
    private_type_ = module_.pointer(spv::StorageClassFunction, array);
    for (Id& id : private_arrays_) id = module_.new_id();
  }
  return private_arrays_.empty() ? 0 : private_arrays_[slot];
}

// What the group's lanes have of it in device memory.
uint64_t Emitter::group_private_bytes() {
  if (!needs_.private_memory || private_array(0)) return 0;
  return uint64_t{waves_} * o_.layout.wave * o_.scratch_dwords * 4;
}

// What lies beyond the array reads 0 and is dropped. Loads need no condition: an array may be read by lanes that are
// off, whose result nobody looks at.
void Emitter::emit_private(uint32_t inst, const ir::Inst& i, const Access& a, uint32_t slot, Id array) {
  const auto args = f_.args(i);
  const Id lanes = f_.at(args[0]).op == Op::constant ? 0 : id(args[0], slot);
  const Id pointer_type = module_.pointer(spv::StorageClassFunction, uint_type());
  const ir::Inst& base = f_.at(args[1]);
  const bool fixed = base.op == Op::constant;
  const uint32_t fixed_address = fixed ? base.imm + static_cast<uint32_t>(a.offset) : 0;
  Id address = 0, dword = 0;
  if (!fixed) {
    address = id(args[1], slot);
    if (a.offset) address = binary(spv::OpIAdd, address, u32(static_cast<uint32_t>(a.offset)));
    dword = binary(spv::OpShiftRightLogical, address, u32(2));
  }
  auto index_of = [&](uint32_t n) {
    if (fixed) return u32(fixed_address / 4 + n);
    return n == 0 ? dword : binary(spv::OpIAdd, dword, u32(n));
  };
  auto beyond = [&](uint32_t n) { return fixed && fixed_address / 4 + n >= private_dwords_; };
  auto inside = [&](Id at) { return value(spv::OpULessThan, bool_type(), {at, u32(private_dwords_)}); };
  auto pointer = [&](Id at) { return value(spv::OpAccessChain, pointer_type, {array, at}); };
  auto shift_of = [&] {
    if (fixed) return u32(fixed_address % 4 * 8);
    return binary(spv::OpShiftLeftLogical, binary(spv::OpBitwiseAnd, address, u32(a.bytes == 1 ? 3 : 2)), u32(3));
  };
  const uint32_t narrow = a.bytes == 1 ? 0xff : 0xffff;
  auto into = [&](Id old, Id data) {  // a byte or half into its dword
    const Id shift = shift_of();
    const Id kept = value(spv::OpNot, uint_type(), {binary(spv::OpShiftLeftLogical, u32(narrow), shift)});
    const Id bits = binary(spv::OpShiftLeftLogical, binary(spv::OpBitwiseAnd, data, u32(narrow)), shift);
    return binary(spv::OpBitwiseOr, binary(spv::OpBitwiseAnd, old, kept), bits);
  };
  if (i.op == Op::load) {
    Results parts{};
    for (uint32_t n = 0; n < a.components; ++n) {
      if (beyond(n)) {
        parts[n] = u32(0);
        continue;
      }
      const Id at = index_of(n);
      if (fixed) {
        parts[n] = value(spv::OpLoad, uint_type(), {pointer(at)});
        continue;
      }
      const Id within = inside(at);
      const Id loaded = value(spv::OpLoad, uint_type(), {pointer(select(uint_type(), within, at, u32(0)))});
      parts[n] = select(uint_type(), within, loaded, u32(0));
    }
    if (a.bytes < 4)
      parts[0] = binary(spv::OpBitwiseAnd, binary(spv::OpShiftRightLogical, parts[0], shift_of()), u32(narrow));
    finish_load(inst, i, slot, parts);
    return;
  }
  for (uint32_t n = 0; n < a.components; ++n) {
    if (beyond(n)) continue;
    Id data = id(args[2 + n], slot);
    const Id at = index_of(n);
    if (fixed) {  // without a branch, so that a driver makes a register of it
      const Id p = pointer(at);
      const Id old = lanes || a.bytes < 4 ? value(spv::OpLoad, uint_type(), {p}) : 0;
      if (a.bytes < 4) data = into(old, data);
      code(spv::OpStore, {p, lanes ? select(uint_type(), lanes, data, old) : data});
      continue;
    }
    Id wanted = inside(at);
    if (lanes) wanted = value(spv::OpLogicalAnd, bool_type(), {lanes, wanted});
    conditional(wanted, 0, 0, [&]() -> Results {
      const Id p = pointer(at);
      code(spv::OpStore, {p, a.bytes < 4 ? into(value(spv::OpLoad, uint_type(), {p}), data) : data});
      return {};
    });
  }
}

Id Emitter::linear_group() {
  Id& cached = entry_[10u << 16];
  if (cached) return cached;
  const Id three = module_.vector(uint_type(), 3);
  const Id own = module_.built_in(spv::BuiltInWorkgroupId, three),
           all = module_.built_in(spv::BuiltInNumWorkgroups, three);
  return cached = in_prelude([&] {
           const Id o = value(spv::OpLoad, three, {own}), n = value(spv::OpLoad, three, {all});
           auto part = [&](Id v, uint32_t d) { return value(spv::OpCompositeExtract, uint_type(), {v, d}); };
           const Id yz = binary(spv::OpIAdd, part(o, 1), binary(spv::OpIMul, part(o, 2), part(n, 1)));
           return binary(spv::OpIAdd, part(o, 0), binary(spv::OpIMul, yz, part(n, 0)));
         });
}

// Private memory: per group, per wave, per dword, per lane; beyond scratch_dwords reads 0 and is dropped.
void Emitter::emit_scratch(uint32_t inst, const ir::Inst& i, const Access& a, uint32_t slot) {
  const auto args = f_.args(i);
  if (const Id array = private_array(slot); array) return emit_private(inst, i, a, slot, array);
  const Id lanes = f_.at(args[0]).op == Op::constant ? 0 : id(args[0], slot);
  const Id wide = module_.type(Type::u64);
  Id& base = entry_[(11u << 16) + slot];
  if (!base) {
    const Id memory = group_memory(), wave = wave_in_group(), own = lane(slot);
    base = in_prelude([&] {
      const Id bytes =
          value(spv::OpIMul, wide,
                {value(spv::OpUConvert, wide, {wave}), module_.u64(uint64_t{o_.scratch_dwords} * o_.layout.wave * 4)});
      const Id mine = value(spv::OpUConvert, wide, {binary(spv::OpShiftLeftLogical, own, u32(2))});
      return value(spv::OpIAdd, wide, {value(spv::OpIAdd, wide, {memory, bytes}), mine});
    });
  }
  // Spills lie at constant addresses: checked here, and one addition to the lane's base.
  const ir::Inst& constant_address = f_.at(args[1]);
  const bool fixed = constant_address.op == Op::constant;
  const uint32_t fixed_dword = fixed ? (constant_address.imm + static_cast<uint32_t>(a.offset)) / 4 : 0;
  Id address = 0, dword = 0;
  auto prepare = [&] {
    address = id(args[1], slot);
    if (a.offset) address = binary(spv::OpIAdd, address, u32(static_cast<uint32_t>(a.offset)));
    if (!fixed) dword = binary(spv::OpShiftRightLogical, address, u32(2));
  };
  auto place = [&](Id at, uint32_t n) {
    const uint64_t row = static_cast<uint64_t>(o_.layout.wave) * 4;
    if (fixed) return value(spv::OpIAdd, wide, {base, module_.u64((fixed_dword + n) * row)});
    const Id bytes = value(spv::OpIMul, wide, {value(spv::OpUConvert, wide, {at}), module_.u64(row)});
    return value(spv::OpIAdd, wide, {base, bytes});
  };
  auto inside = [&](Id at, uint32_t n) {
    if (fixed) return fixed_dword + n < o_.scratch_dwords ? Id{0} : module_.constant(Type::b1, 0);
    return value(spv::OpULessThan, bool_type(), {at, u32(o_.scratch_dwords)});
  };
  auto shift_of = [&] {
    return binary(spv::OpShiftLeftLogical, binary(spv::OpBitwiseAnd, address, u32(a.bytes == 1 ? 3 : 2)), u32(3));
  };
  const uint32_t narrow = a.bytes == 1 ? 0xff : 0xffff;
  if (i.op == Op::load) {
    finish_load(inst, i, slot, conditional(lanes, uint_type(), a.components, [&]() -> Results {
                  prepare();
                  Results parts{};
                  for (uint32_t n = 0; n < a.components; ++n) {
                    const Id at = n && !fixed ? binary(spv::OpIAdd, dword, u32(n)) : dword;
                    parts[n] = conditional(inside(at, n), uint_type(), 1,
                                           [&]() -> Results { return {load_device(place(at, n), Type::u32)}; })[0];
                  }
                  if (a.bytes < 4)
                    parts[0] =
                        binary(spv::OpBitwiseAnd, binary(spv::OpShiftRightLogical, parts[0], shift_of()), u32(narrow));
                  return parts;
                }));
  } else {
    conditional(lanes, 0, 0, [&]() -> Results {
      prepare();
      for (uint32_t n = 0; n < a.components; ++n) {
        const Id at = n && !fixed ? binary(spv::OpIAdd, dword, u32(n)) : dword;
        conditional(inside(at, n), 0, 0, [&]() -> Results {
          Id data = id(args[2 + n], slot);
          const Id p = place(at, n);
          if (a.bytes < 4) {  // nobody else writes this lane's dword
            const Id shift = shift_of();
            const Id kept = value(spv::OpNot, uint_type(), {binary(spv::OpShiftLeftLogical, u32(narrow), shift)});
            const Id bits = binary(spv::OpShiftLeftLogical, binary(spv::OpBitwiseAnd, data, u32(narrow)), shift);
            data = binary(spv::OpBitwiseOr, binary(spv::OpBitwiseAnd, load_device(p, Type::u32), kept), bits);
          }
          store_device(p, Type::u32, data);
          return {};
        });
      }
      return {};
    });
  }
}

}  // namespace orrery::shader::spirv
