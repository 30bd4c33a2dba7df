// The group's LDS as workgroup memory, and private (scratch) memory.
#include <algorithm>
#include <bit>

#include "gpu-service/shader/spirv/conditional.hpp"

namespace orrery::shader::spirv {

using ir::Access;
using ir::Op;
using ir::Type;

namespace {

// Low bits of an address that are 0 for certain, as far as a few operations back show it; at most 2 matter.
uint32_t zero_bits(const ir::Function& f, ir::Value v, int depth) {
  const ir::Inst& inst = f.at(v);
  const auto args = f.args(inst);
  auto constant = [&](size_t n) { return args.size() > n && f.at(args[n]).op == Op::constant; };
  switch (inst.op) {
    case Op::constant:
      return static_cast<uint32_t>(std::countr_zero(inst.imm | 4u));
    case Op::undefined:
      return 2;
    default:
      break;
  }
  if (depth == 0) return 0;
  auto of = [&](size_t n) { return zero_bits(f, args[n], depth - 1); };
  switch (inst.op) {
    case Op::copy:
      return of(0);
    case Op::iadd:
    case Op::isub:
    case Op::ior:
    case Op::ixor:
      return std::min(of(0), of(1));
    case Op::iand:
    case Op::imul:
      return inst.op == Op::iand ? std::max(of(0), of(1)) : std::min(2u, of(0) + of(1));
    case Op::shl:
      return constant(1) ? std::min(2u, of(0) + (f.at(args[1]).imm & 31u)) : of(0);
    case Op::select:
      return std::min(of(1), of(2));
    default:
      return 0;
  }
}

constexpr int kAlignmentDepth = 6;

}  // namespace

Id Emitter::workgroup_array() {
  if (!workgroup_) {
    if (lds_dwords_ * 4 > o_.host.workgroup_memory) {
      refuse(0, "the group's LDS of " + std::to_string(lds_dwords_ * 4) +
                    " bytes is more than the device's workgroup memory of " + std::to_string(o_.host.workgroup_memory));
    }
    workgroup_ = module_.variable(spv::StorageClassWorkgroup, module_.array(uint_type(), std::max(1u, lds_dwords_)));
  }
  return workgroup_;
}

void Emitter::emit_lds(uint32_t inst, const ir::Inst& i, const Access& a, uint32_t slot) {
  const auto args = f_.args(i);
  const Id lanes = f_.at(args[0]).op == Op::constant ? 0 : id(args[0], slot);
  const Id array = workgroup_array();
  const Id pointer_type = module_.pointer(spv::StorageClassWorkgroup, uint_type());
  const ir::Inst& base = f_.at(args[1]);
  const bool fixed = base.op == Op::constant;
  const uint32_t fixed_address = fixed ? base.imm + static_cast<uint32_t>(a.offset) : 0;
  // Byte address of the access, and its dword's index plus n.
  Id address = 0, index = 0;
  auto prepare = [&] {
    if (fixed) return;
    address = id(args[1], slot);
    if (a.offset) address = binary(spv::OpIAdd, address, u32(static_cast<uint32_t>(a.offset)));
    index = binary(spv::OpShiftRightLogical, address, u32(2));
  };
  auto index_of = [&](uint32_t n) {
    if (fixed) return u32(fixed_address / 4 + n);
    return n == 0 ? index : binary(spv::OpIAdd, index, u32(n));
  };
  auto in_range = [&](Id at, uint32_t n) {
    if (fixed) return fixed_address / 4 + n < lds_dwords_ ? Id{0} : module_.constant(Type::b1, 0);
    return value(spv::OpULessThan, bool_type(), {at, u32(lds_dwords_)});
  };
  auto pointer = [&](Id at) { return value(spv::OpAccessChain, pointer_type, {array, at}); };
  auto shift_of = [&] {  // bits to the narrow value within its dword
    if (fixed) return u32(fixed_address % 4 * 8);
    return binary(spv::OpShiftLeftLogical, binary(spv::OpBitwiseAnd, address, u32(a.bytes == 1 ? 3 : 2)), u32(3));
  };
  const uint32_t narrow = a.bytes == 1 ? 0xff : 0xffff;
  // LDS takes any address (the alignment mode that LLVM's code relies on); only where the address is not known to be a
  // multiple of the element is it put together from two dwords.
  const uint32_t known = fixed
                             ? static_cast<uint32_t>(std::countr_zero(fixed_address | 4u))
                             : std::min(zero_bits(f_, args[1], kAlignmentDepth),
                                        static_cast<uint32_t>(std::countr_zero(static_cast<uint32_t>(a.offset) | 4u)));
  const bool straddles = i.op != Op::atomic && a.bytes > (1u << known);
  auto any_shift = [&] {
    return fixed ? u32(fixed_address % 4 * 8)
                 : binary(spv::OpShiftLeftLogical, binary(spv::OpBitwiseAnd, address, u32(3)), u32(3));
  };
  // The part of `bits`, shifted up, that goes into the next dword.
  auto spilled = [&](Id bits, Id shift) {
    return binary(spv::OpShiftRightLogical, binary(spv::OpShiftRightLogical, bits, u32(1)),
                  binary(spv::OpISub, u32(31), shift));
  };

  if (i.op == Op::load) {
    finish_load(
        inst, i, slot, conditional(lanes, uint_type(), a.components, [&]() -> Results {
          prepare();
          Results parts{};
          auto dword = [&](uint32_t n) {
            const Id at = index_of(n);
            if (fixed) {
              return fixed_address / 4 + n < lds_dwords_ ? value(spv::OpLoad, uint_type(), {pointer(at)}) : u32(0);
            }
            // Out of range: dword 0 is read and thrown away.
            const Id inside = in_range(at, n);
            const Id loaded = value(spv::OpLoad, uint_type(), {pointer(select(uint_type(), inside, at, u32(0)))});
            return select(uint_type(), inside, loaded, u32(0));
          };
          parts[0] = dword(0);
          if (straddles) {
            const Id shift = any_shift();
            Id low = parts[0];
            for (uint32_t n = 0; n < a.components; ++n) {
              const Id high = dword(n + 1);
              const Id above = binary(spv::OpShiftLeftLogical, binary(spv::OpShiftLeftLogical, high, u32(1)),
                                      binary(spv::OpISub, u32(31), shift));
              parts[n] = binary(spv::OpBitwiseOr, binary(spv::OpShiftRightLogical, low, shift), above);
              if (a.bytes < 4) parts[n] = binary(spv::OpBitwiseAnd, parts[n], u32(narrow));
              low = high;
            }
            return parts;
          }
          for (uint32_t n = 1; n < a.components; ++n) parts[n] = dword(n);
          if (a.bytes < 4) {
            const Id shifted = binary(spv::OpShiftRightLogical, parts[0], shift_of());
            parts[0] = binary(spv::OpBitwiseAnd, shifted, u32(narrow));
          }
          return parts;
        }));
  } else if (i.op == Op::store) {
    // Bits of a dword whose others belong to other lanes: cleared, then set.
    auto merge_bits = [&](Id at, Id mask, Id bits) {
      const Id p = pointer(at);
      value(spv::OpAtomicAnd, uint_type(),
            {p, u32(spv::ScopeWorkgroup), u32(0), value(spv::OpNot, uint_type(), {mask})});
      value(spv::OpAtomicOr, uint_type(), {p, u32(spv::ScopeWorkgroup), u32(0), bits});
    };
    auto store_across = [&] {
      const Id shift = any_shift(), whole = u32(a.bytes == 4 ? ~0u : narrow);
      for (uint32_t n = 0; n < a.components; ++n) {
        Id data = id(args[2 + n], slot);
        if (a.bytes < 4) data = binary(spv::OpBitwiseAnd, data, whole);
        const Id at = index_of(n), next = index_of(n + 1);
        conditional(in_range(at, n), 0, 0, [&]() -> Results {
          merge_bits(at, binary(spv::OpShiftLeftLogical, whole, shift), binary(spv::OpShiftLeftLogical, data, shift));
          return {};
        });
        conditional(in_range(next, n + 1), 0, 0, [&]() -> Results {
          merge_bits(next, spilled(whole, shift), spilled(data, shift));
          return {};
        });
      }
    };
    conditional(lanes, 0, 0, [&]() -> Results {
      prepare();
      Id aligned = 0;
      if (straddles && (a.bytes < 4 || fixed)) {
        store_across();
        return {};
      }
      if (straddles) {
        aligned = value(spv::OpIEqual, bool_type(), {any_shift(), u32(0)});
        conditional(value(spv::OpLogicalNot, bool_type(), {aligned}), 0, 0, [&]() -> Results {
          store_across();
          return {};
        });
      }
      for (uint32_t n = 0; n < a.components; ++n) {
        const Id at = index_of(n);
        Id wanted = in_range(at, n);
        if (aligned) wanted = wanted ? value(spv::OpLogicalAnd, bool_type(), {wanted, aligned}) : aligned;
        conditional(wanted, 0, 0, [&]() -> Results {
          const Id data = id(args[2 + n], slot);
          if (a.bytes == 4) {
            code(spv::OpStore, {pointer(at), data});
            return {};
          }
          const Id shift = shift_of();
          merge_bits(at, binary(spv::OpShiftLeftLogical, u32(narrow), shift),
                     binary(spv::OpShiftLeftLogical, binary(spv::OpBitwiseAnd, data, u32(narrow)), shift));
          return {};
        });
      }
      return {};
    });
  } else {
    if (i.type == Type::u64) {
      refuse(a.instruction, "64-bit LDS atomic");
      finish_load(inst, i, slot, {module_.null(module_.type(i.type))});
      return;
    }
    finish_load(
        inst, i, slot, conditional(lanes, uint_type(), 1, [&]() -> Results {
          prepare();
          const Id at = index_of(0);
          return conditional(in_range(at, 0), uint_type(), 1, [&]() -> Results {
            return {atomic_on(a, pointer(at), i.type, id(args[2], slot), args.size() > 3 ? id(args[3], slot) : 0)};
          });
        }));
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
  uses_scratch_ = true;
  const auto args = f_.args(i);
  if (i.op == Op::atomic) {
    refuse(a.instruction, "atomic on private memory");
    finish_load(inst, i, slot, {module_.null(module_.type(i.type))});
    return;
  }
  const Id lanes = f_.at(args[0]).op == Op::constant ? 0 : id(args[0], slot);
  const Id wide = module_.type(Type::u64);
  Id& base = entry_[(11u << 16) + slot];
  if (!base) {
    const Id group = linear_group(), wave = wave_in_group(), own = lane(slot), memory = push(kScratch);
    base = in_prelude([&] {
      const Id waves = value(spv::OpIAdd, wide,
                             {value(spv::OpIMul, wide, {value(spv::OpUConvert, wide, {group}), module_.u64(waves_)}),
                              value(spv::OpUConvert, wide, {wave})});
      const Id bytes =
          value(spv::OpIMul, wide, {waves, module_.u64(static_cast<uint64_t>(o_.scratch_dwords) * o_.layout.wave * 4)});
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
