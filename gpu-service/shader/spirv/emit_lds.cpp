// Accesses to the group's LDS, wherever it lies (lds_home.cpp).
#include <algorithm>
#include <bit>

#include "gpu-service/shader/spirv/conditional.hpp"
#include "gpu-service/shader/spirv/known_bound.hpp"

namespace orrery::shader::spirv {

using ir::Access;
using ir::Op;
using ir::Type;

namespace {

// Low bits of an address that are 0 for certain, as far as a few operations back show it; more than kMost do not
// matter.
class ZeroBits {
 public:
  static constexpr uint32_t kMost = 4;
  static constexpr size_t kMostWays = 4;

  explicit ZeroBits(const ir::Function& f) : f_(f) {}
  uint32_t of(ir::Value v, int depth) {
    const ir::Inst& inst = f_.at(v);
    const auto args = f_.args(inst);
    const auto arg = [&](size_t n) { return of(args[n], depth - 1); };
    switch (inst.op) {
      case Op::constant:
        return static_cast<uint32_t>(std::countr_zero(inst.imm | 1u << kMost));
      case Op::undefined:
        return kMost;
      default:
        break;
    }
    if (depth == 0) return 0;
    switch (inst.op) {
      case Op::copy:
        return arg(0);
      case Op::iadd:
      case Op::isub:
      case Op::ior:
      case Op::ixor:
        return std::min(arg(0), arg(1));
      case Op::iand:
        return std::max(arg(0), arg(1));
      case Op::imul:
        return std::min(kMost, arg(0) + arg(1));
      case Op::shl:
        return f_.at(args[1]).op == Op::constant ? std::min(kMost, arg(0) + (f_.at(args[1]).imm & 31u)) : arg(0);
      case Op::select:
        return std::min(arg(1), arg(2));
      case Op::phi: {
        // What comes around a loop is as good as what went in, if the round adds nothing odd.
        for (const uint32_t open : open_)
          if (open == v.id) return kMost;
        if (args.size() > kMostWays) return 0;
        open_.push_back(v.id);
        uint32_t bits = kMost;
        for (size_t n = 0; n < args.size(); ++n) bits = std::min(bits, arg(n));
        open_.pop_back();
        return bits;
      }
      default:
        return 0;
    }
  }

 private:
  const ir::Function& f_;
  std::vector<uint32_t> open_;  // phis on the way
};

constexpr int kAlignmentDepth = 6;

}  // namespace

void Emitter::emit_lds(uint32_t inst, const ir::Inst& i, const Access& a, uint32_t slot) {
  const auto args = f_.args(i);
  const Id lanes = f_.at(args[0]).op == Op::constant ? 0 : id(args[0], slot);
  const ir::Inst& base = f_.at(args[1]);
  const bool fixed = base.op == Op::constant;
  const uint32_t fixed_address = fixed ? base.imm + static_cast<uint32_t>(a.offset) : 0;
  // LDS takes any address (the alignment mode that LLVM's code relies on); only where the address is not known to be a
  // multiple of the element is it put together from two dwords.
  const uint32_t known =
      fixed
          ? static_cast<uint32_t>(std::countr_zero(fixed_address | 1u << ZeroBits::kMost))
          : std::min(ZeroBits(f_).of(args[1], kAlignmentDepth),
                     static_cast<uint32_t>(std::countr_zero(static_cast<uint32_t>(a.offset) | 1u << ZeroBits::kMost)));
  const bool straddles = i.op != Op::atomic && a.bytes > (1u << known);
  // No lane's address can lie outside.
  const uint32_t more_dwords = a.components - 1u + (straddles || a.bytes == 8 ? 1 : 0);
  const bool inside =
      !fixed && a.offset >= 0 &&
      (uint64_t{known_bound(f_, o_, args[1])} + static_cast<uint32_t>(a.offset)) / 4 + more_dwords < lds_dwords_;
  // Byte address of the access, and its dword's index plus n.
  Id address = 0, index = 0;
  auto prepare = [&] {
    if (fixed) return;
    address = id(args[1], slot);
    if (a.offset) address = binary(spv::OpIAdd, address, u32(static_cast<uint32_t>(a.offset)));
    // Written so that a driver sees vectors that stand at a multiple of their size.
    const uint32_t more = a.components == 4 ? 2 : a.components == 2 ? 1 : 0;
    index = binary(spv::OpShiftRightLogical, address, u32(known >= 2 + more ? 2 + more : 2));
    if (known >= 2 + more && more) index = binary(spv::OpShiftLeftLogical, index, u32(more));
  };
  auto index_of = [&](uint32_t n) {
    if (fixed) return u32(fixed_address / 4 + n);
    return n == 0 ? index : binary(spv::OpIAdd, index, u32(n));
  };
  auto in_range = [&](Id at, uint32_t n) {  // 0: for certain
    if (inside) return Id{0};
    if (fixed) return fixed_address / 4 + n < lds_dwords_ ? Id{0} : module_.constant(Type::b1, 0);
    return value(spv::OpULessThan, bool_type(), {at, u32(lds_dwords_)});
  };
  auto shift_of = [&] {  // bits to the narrow value within its dword
    if (fixed) return u32(fixed_address % 4 * 8);
    return binary(spv::OpShiftLeftLogical, binary(spv::OpBitwiseAnd, address, u32(a.bytes == 1 ? 3 : 2)), u32(3));
  };
  const uint32_t narrow = a.bytes == 1 ? 0xff : 0xffff;
  auto any_shift = [&] {
    return fixed ? u32(fixed_address % 4 * 8)
                 : binary(spv::OpShiftLeftLogical, binary(spv::OpBitwiseAnd, address, u32(3)), u32(3));
  };
  // The part of `bits`, shifted up, that goes into the next dword.
  auto spilled = [&](Id bits, Id shift) {
    return binary(spv::OpShiftRightLogical, binary(spv::OpShiftRightLogical, bits, u32(1)),
                  binary(spv::OpISub, u32(31), shift));
  };

  // On a GPU a branch is cheaper than a select for each dword: most accesses lie within as a whole.
  const bool branches = !o_.host.lockstep_subgroups && !fixed && a.bytes == 4;
  auto is_aligned = [&] { return value(spv::OpIEqual, bool_type(), {any_shift(), u32(0)}); };
  auto load_dwords = [&]() -> Results {
    auto dword = [&](uint32_t n) { return lds_load(index_of(n)); };
    if (a.components == 1) {
      return conditional(in_range(index, 0), uint_type(), 1, [&]() -> Results { return {dword(0)}; });
    }
    auto together = [&]() -> Results {
      Results parts{};
      for (uint32_t n = 0; n < a.components; ++n) parts[n] = dword(n);
      return parts;
    };
    auto each = [&]() -> Results {
      Results parts{};
      for (uint32_t n = 0; n < a.components; ++n) {
        parts[n] = conditional(in_range(index_of(n), n), uint_type(), 1, [&]() -> Results { return {dword(n)}; })[0];
      }
      return parts;
    };
    if (inside) return together();
    const uint32_t last = a.components - 1;
    return either(in_range(index_of(last), last), uint_type(), a.components, together, each);
  };
  if (i.op == Op::load) {
    finish_load(inst, i, slot, conditional(lanes, uint_type(), a.components, [&]() -> Results {
                  prepare();
                  auto any_load = [&]() -> Results {
                    Results parts{};
                    auto dword = [&](uint32_t n) {
                      const Id at = index_of(n);
                      if (fixed) {
                        return fixed_address / 4 + n < lds_dwords_ ? lds_load(at) : u32(0);
                      }
                      if (inside) return lds_load(at);
                      // Out of range: dword 0 is read and thrown away.
                      const Id there = in_range(at, n);
                      const Id loaded = lds_load(select(uint_type(), there, at, u32(0)));
                      return select(uint_type(), there, loaded, u32(0));
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
                  };
                  if (!branches) return any_load();
                  if (!straddles) return load_dwords();
                  return either(is_aligned(), uint_type(), a.components, load_dwords, any_load);
                }));
  } else if (i.op == Op::store) {
    // Bits of a dword whose others belong to other lanes: cleared, then set.
    auto merge_bits = [&](Id at, Id mask, Id bits) {
      const Id p = lds_pointer(at, 4);
      value(spv::OpAtomicAnd, uint_type(),
            {p, u32(spv::ScopeWorkgroup), u32(0), value(spv::OpNot, uint_type(), {mask})});
      value(spv::OpAtomicOr, uint_type(), {p, u32(spv::ScopeWorkgroup), u32(0), bits});
    };
    // Memory takes bytes and halves as they are.
    auto store_narrow = [&](Id at, Id data) {
      module_.capability(a.bytes == 1 ? spv::CapabilityStorageBuffer8BitAccess
                                      : spv::CapabilityStorageBuffer16BitAccess);
      const Id element = module_.integer(a.bytes * 8u), wide = module_.type(Type::u64);
      const Id odd = fixed ? u32(fixed_address & 3u) : binary(spv::OpBitwiseAnd, address, u32(3));
      const Id place = value(spv::OpIAdd, wide, {lds_address(at), value(spv::OpUConvert, wide, {odd})});
      const Id cut = value(spv::OpUConvert, element, {data});
      code(spv::OpStore,
           {device_pointer(place, element), cut, static_cast<uint32_t>(spv::MemoryAccessAlignedMask), a.bytes});
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
      if (branches && !straddles && !inside && a.components > 1) {
        const uint32_t last = a.components - 1;
        auto dword = [&](uint32_t n) { lds_store(index_of(n), id(args[2 + n], slot)); };
        either(
            in_range(index_of(last), last), 0, 0,
            [&]() -> Results {
              for (uint32_t n = 0; n < a.components; ++n) dword(n);
              return {};
            },
            [&]() -> Results {
              for (uint32_t n = 0; n < a.components; ++n) {
                conditional(in_range(index_of(n), n), 0, 0, [&]() -> Results {
                  dword(n);
                  return {};
                });
              }
              return {};
            });
        return {};
      }
      for (uint32_t n = 0; n < a.components; ++n) {
        const Id at = index_of(n);
        Id wanted = in_range(at, n);
        if (aligned) wanted = wanted ? value(spv::OpLogicalAnd, bool_type(), {wanted, aligned}) : aligned;
        conditional(wanted, 0, 0, [&]() -> Results {
          const Id data = id(args[2 + n], slot);
          if (a.bytes == 4) {
            lds_store(at, data);
            return {};
          }
          if (lds_home_ == LdsHome::memory) {
            store_narrow(at, data);
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
    // An atomic's address is a multiple of its size: the lowest bits do not count.
    const bool wide = i.type == Type::u64;
    const Id type = module_.type(i.type);
    finish_load(inst, i, slot, conditional(lanes, type, 1, [&]() -> Results {
                  prepare();
                  Id at = index_of(0);
                  if (wide) at = fixed ? u32(fixed_address / 8 * 2) : binary(spv::OpBitwiseAnd, at, u32(~1u));
                  return conditional(in_range(at, 0), type, 1, [&]() -> Results {
                    return {atomic_on(a, lds_pointer(at, a.bytes), i.type, id(args[2], slot),
                                      args.size() > 3 ? id(args[3], slot) : 0)};
                  });
                }));
  }
}

}  // namespace orrery::shader::spirv
