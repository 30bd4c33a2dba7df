// Atomics on a pointer: the device's own where it has one, a compare-and-swap loop otherwise. Floats are compared as
// integers, so that a device that flushes denormals, or has no such floats, gives the same bits.
#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::spirv {

using ir::Access;
using ir::AtomicOp;
using ir::Type;

namespace {

spv::Op native(AtomicOp op) {
  switch (op) {
    case AtomicOp::swap:
      return spv::OpAtomicExchange;
    case AtomicOp::add:
      return spv::OpAtomicIAdd;
    case AtomicOp::sub:
      return spv::OpAtomicISub;
    case AtomicOp::umin:
      return spv::OpAtomicUMin;
    case AtomicOp::smin:
      return spv::OpAtomicSMin;
    case AtomicOp::umax:
      return spv::OpAtomicUMax;
    case AtomicOp::smax:
      return spv::OpAtomicSMax;
    case AtomicOp::iand:
      return spv::OpAtomicAnd;
    case AtomicOp::ior:
      return spv::OpAtomicOr;
    case AtomicOp::ixor:
      return spv::OpAtomicXor;
    default:
      return spv::OpNop;
  }
}

}  // namespace

Id Emitter::atomic_on(const Access& a, Id pointer, Type type, Id data, Id second) {
  const Id t = module_.type(type);
  const Id scope = u32(a.space == ir::Space::lds ? spv::ScopeWorkgroup : spv::ScopeDevice), relaxed = u32(0);
  if (type == Type::u64) module_.capability(spv::CapabilityInt64Atomics);
  if (a.atomic == AtomicOp::compare_swap) {
    return value(spv::OpAtomicCompareExchange, t, {pointer, scope, relaxed, relaxed, data, second});
  }
  if (const spv::Op op = native(a.atomic); op != spv::OpNop) return value(op, t, {pointer, scope, relaxed, data});
  const Id before = current_label_, header = module_.new_id(), body = module_.new_id(), next = module_.new_id(),
           merge = module_.new_id();
  const Id first = value(spv::OpAtomicLoad, t, {pointer, scope, relaxed});
  code(spv::OpBranch, {header});
  label(header);
  const Id old = module_.new_id(), seen = module_.new_id();
  code(spv::OpPhi, {t, old, first, before, seen, next});
  code(spv::OpLoopMerge, {merge, next, 0});
  code(spv::OpBranch, {body});
  label(body);
  count_round();
  const Id made = updated(a, type, old, data, second);
  code(spv::OpAtomicCompareExchange, {t, seen, pointer, scope, relaxed, relaxed, made, old});
  code(spv::OpBranchConditional, {value(spv::OpIEqual, bool_type(), {seen, old}), merge, next});
  label(next);
  code(spv::OpBranch, {header});
  label(merge);
  return seen;
}

// What memory holds after the atomics that no device has.
Id Emitter::updated(const Access& a, Type type, Id old, Id data, Id second) {
  const Id t = module_.type(type), one = module_.constant(type, 1), zero = module_.constant(type, 0);
  const uint32_t bits = ir::bits_of(type);
  auto test = [&](spv::Op op, Id x, Id y) { return value(op, bool_type(), {x, y}); };
  auto both = [&](spv::Op op, Id x, Id y) { return value(op, t, {x, y}); };
  const uint64_t sign = 1ull << (bits - 1), infinity = bits == 64 ? 0x7ffull << 52 : 0xffull << 23;
  auto magnitude = [&](Id x) { return both(spv::OpBitwiseAnd, x, module_.constant(type, sign - 1)); };
  auto is_number = [&](Id x) { return test(spv::OpULessThanEqual, magnitude(x), module_.constant(type, infinity)); };
  // Ordered as the floats are, with one zero.
  auto order = [&](Id x) {
    return select(t, test(spv::OpSLessThan, x, zero), both(spv::OpISub, module_.constant(type, sign), x), x);
  };
  auto less = [&](Id x, Id y) {
    const Id numbers = test(spv::OpLogicalAnd, is_number(x), is_number(y));
    return test(spv::OpLogicalAnd, numbers, test(spv::OpSLessThan, order(x), order(y)));
  };
  auto flushed = [&](Id x, bool flush) {
    if (!flush) return x;
    const Id exponent = both(spv::OpBitwiseAnd, x, module_.constant(type, infinity));
    const Id signed_zero = both(spv::OpBitwiseAnd, x, module_.constant(type, sign));
    return select(t, test(spv::OpIEqual, exponent, zero), signed_zero, x);
  };
  switch (a.atomic) {
    case AtomicOp::inc:
      return select(t, test(spv::OpUGreaterThanEqual, old, data), zero, both(spv::OpIAdd, old, one));
    case AtomicOp::dec: {
      const Id wraps = test(spv::OpLogicalOr, test(spv::OpIEqual, old, zero), test(spv::OpUGreaterThan, old, data));
      return select(t, wraps, data, both(spv::OpISub, old, one));
    }
    case AtomicOp::reverse_sub:
      return both(spv::OpISub, data, old);
    case AtomicOp::clamped_sub:
      return select(t, test(spv::OpULessThan, old, data), zero, both(spv::OpISub, old, data));
    case AtomicOp::mask_or:
      return both(spv::OpBitwiseOr, both(spv::OpBitwiseAnd, old, value(spv::OpNot, t, {second})), data);
    case AtomicOp::wrap:
      return select(t, test(spv::OpUGreaterThanEqual, old, second), both(spv::OpISub, old, second),
                    both(spv::OpIAdd, old, data));
    case AtomicOp::fadd: {
      const Id real = module_.type(bits == 64 ? Type::f64 : Type::f32);
      const Id x = value(spv::OpBitcast, real, {flushed(old, a.flush_inputs)});
      const Id y = value(spv::OpBitcast, real, {flushed(data, a.flush_inputs)});
      const Id sum = module_.exact(value(spv::OpFAdd, real, {x, y}));
      return flushed(value(spv::OpBitcast, t, {sum}), a.flush_result);
    }
    // A NaN in memory stays, a NaN as data changes nothing.
    case AtomicOp::fmin:
      return select(t, less(data, old), data, old);
    case AtomicOp::fmax:
      return select(t, less(old, data), data, old);
    case AtomicOp::fcompare_swap: {
      const Id same = test(spv::OpLogicalAnd, is_number(old), test(spv::OpIEqual, old, second));
      const Id zeros = test(spv::OpIEqual, magnitude(both(spv::OpBitwiseOr, old, second)), zero);
      return select(t, test(spv::OpLogicalOr, same, zeros), data, old);
    }
    default:
      return data;
  }
}

}  // namespace orrery::shader::spirv
