#include "gpu-service/shader/semantics/private_atomic.hpp"

#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {

using ir::Access;
using ir::AtomicOp;

namespace {

// Floats as integers: the bits decide, denormals included.
struct FloatBits {
  Builder& b;
  Type type;
  uint64_t sign() const { return 1ull << (bits_of(type) - 1); }
  uint64_t infinity() const { return bits_of(type) == 64 ? 0x7ffull << 52 : 0xffull << 23; }
  Value magnitude(Value x) const { return b.land(x, b.constant(type, sign() - 1)); }
  Value is_number(Value x) const { return b.compare(Op::ule, magnitude(x), b.constant(type, infinity())); }
  // Ordered as the floats are, with one zero.
  Value order(Value x) const { return b.select(negative(b, x), b.sub(b.constant(type, sign()), x), x); }
  Value less(Value x, Value y) const {
    return b.land(b.land(is_number(x), is_number(y)), b.compare(Op::slt, order(x), order(y)));
  }
  Value same(Value x, Value y) const {
    const Value zeros = b.compare(Op::ieq, magnitude(b.lor(x, y)), b.constant(type, 0));
    return b.lor(zeros, b.land(is_number(x), b.compare(Op::ieq, x, y)));
  }
};

Value updated(Builder& b, AtomicOp op, Value old, Value data, Value second) {
  const Type type = b.type(old);
  const FloatBits floats{b, type};
  const Value zero = b.constant(type, 0), one = b.constant(type, 1);
  switch (op) {
    case AtomicOp::add:
      return b.add(old, data);
    case AtomicOp::sub:
      return b.sub(old, data);
    case AtomicOp::umin:
      return b.op(Op::umin, old, data);
    case AtomicOp::smin:
      return b.op(Op::smin, old, data);
    case AtomicOp::umax:
      return b.op(Op::umax, old, data);
    case AtomicOp::smax:
      return b.op(Op::smax, old, data);
    case AtomicOp::iand:
      return b.land(old, data);
    case AtomicOp::ior:
      return b.lor(old, data);
    case AtomicOp::ixor:
      return b.lxor(old, data);
    case AtomicOp::inc:
      return b.select(b.compare(Op::ule, data, old), zero, b.add(old, one));
    case AtomicOp::dec: {
      const Value wraps = b.lor(b.compare(Op::ieq, old, zero), b.compare(Op::ult, data, old));
      return b.select(wraps, data, b.sub(old, one));
    }
    case AtomicOp::clamped_sub:
      return b.select(b.compare(Op::ult, old, data), zero, b.sub(old, data));
    case AtomicOp::compare_swap:
      return b.select(b.compare(Op::ieq, old, second), data, old);
    case AtomicOp::fcompare_swap:
      return b.select(floats.same(old, second), data, old);
    case AtomicOp::fmin:
      return b.select(floats.less(data, old), data, old);
    case AtomicOp::fmax:
      return b.select(floats.less(old, data), data, old);
    default:
      return data;  // swap; the others are of LDS only
  }
}

}  // namespace

Value private_atomic(Builder& b, const Access& access, const Place& place, Value data, Value second) {
  const bool wide = access.bytes == 8;
  const Access a{
      .space = ir::Space::scratch, .components = static_cast<uint8_t>(wide ? 2 : 1), .instruction = access.instruction};
  const Value sum = b.add(place.address, b.u32(static_cast<uint32_t>(access.offset)));
  const Value address = b.land(sum, b.u32(~(access.bytes - 1u)));
  const auto parts = b.load(a, place.lanes, address);
  const Value old = wide ? b.pack64(parts[0], parts[1]) : parts[0];
  const Value now = updated(b, access.atomic, old, data, second);
  const Value words[] = {wide ? b.low32(now) : now, wide ? b.high32(now) : now};
  b.store(a, place.lanes, address, std::span<const Value>(words).first(wide ? 2 : 1));
  return old;
}

}  // namespace orrery::shader::semantics
