// Folding of constants and identities as operations are made.
#include <bit>

#include "gpu-service/shader/ir/builder_state.hpp"
#include "gpu-service/shader/ir/float_shape.hpp"
#include "gpu-service/shader/ir/fold_floats.hpp"

namespace orrery::shader::ir {
namespace {

int64_t signed_of(uint64_t v, uint32_t bits) {
  const uint32_t shift = 64 - bits;
  return static_cast<int64_t>(v << shift) >> shift;
}

// Integer and b1 operations over constants; false when not foldable.
bool evaluate(Op op, Type type, Type operand, const uint64_t* a, uint32_t imm, uint64_t& out) {
  const uint32_t width = bits_of(operand);
  const uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;
  const uint64_t count = width > 1 ? a[1] & (width - 1) : 0;
  switch (op) {
    case Op::iadd:
      out = a[0] + a[1];
      break;
    case Op::isub:
      out = a[0] - a[1];
      break;
    case Op::imul:
      out = a[0] * a[1];
      break;
    case Op::umul_high:
      out = (a[0] * a[1]) >> 32;
      break;
    case Op::smul_high:
      out = static_cast<uint64_t>(signed_of(a[0], 32) * signed_of(a[1], 32)) >> 32;
      break;
    case Op::iand:
      out = a[0] & a[1];
      break;
    case Op::ior:
      out = a[0] | a[1];
      break;
    case Op::ixor:
      out = a[0] ^ a[1];
      break;
    case Op::inot:
      out = ~a[0];
      break;
    case Op::shl:
      out = a[0] << count;
      break;
    case Op::lshr:
      out = a[0] >> count;
      break;
    case Op::ashr:
      out = static_cast<uint64_t>(signed_of(a[0], width) >> count);
      break;
    case Op::umin:
      out = std::min(a[0], a[1]);
      break;
    case Op::umax:
      out = std::max(a[0], a[1]);
      break;
    case Op::smin:
      out = signed_of(a[0], width) < signed_of(a[1], width) ? a[0] : a[1];
      break;
    case Op::smax:
      out = signed_of(a[0], width) > signed_of(a[1], width) ? a[0] : a[1];
      break;
    case Op::bit_count:
      out = static_cast<uint64_t>(std::popcount(a[0]));
      break;
    case Op::find_lsb:
      out = a[0] ? static_cast<uint64_t>(std::countr_zero(a[0])) : ~0ull;
      break;
    case Op::find_umsb:
      out = a[0] ? static_cast<uint64_t>(63 - std::countl_zero(a[0])) : ~0ull;
      break;
    case Op::ieq:
      out = a[0] == a[1];
      break;
    case Op::ine:
      out = a[0] != a[1];
      break;
    case Op::ult:
      out = a[0] < a[1];
      break;
    case Op::ule:
      out = a[0] <= a[1];
      break;
    case Op::slt:
      out = signed_of(a[0], width) < signed_of(a[1], width);
      break;
    case Op::sle:
      out = signed_of(a[0], width) <= signed_of(a[1], width);
      break;
    case Op::bitcast:
    case Op::zext:
      out = a[0];
      break;
    case Op::sext:
      out = static_cast<uint64_t>(signed_of(a[0], width));
      break;
    case Op::truncate:
      out = a[0];
      break;
    case Op::pack64:
      out = a[0] | (a[1] << 32);
      break;
    case Op::low32:
      out = a[0];
      break;
    case Op::high32:
      out = a[0] >> 32;
      break;
    case Op::fneg:
      out = a[0] ^ (1ull << (width - 1));
      break;
    case Op::fabs:
      out = a[0] & (mask >> 1);
      break;
    case Op::bitfield_u:
    case Op::bitfield_s: {
      if (a[2] == 0) {
        out = 0;
        break;
      }
      if (a[1] + a[2] > 32) return false;
      const uint64_t field = (a[0] >> a[1]) & ((1ull << a[2]) - 1);
      out = op == Op::bitfield_u ? field : static_cast<uint64_t>(signed_of(field, static_cast<uint32_t>(a[2])));
      break;
    }
    default:
      return false;
  }
  static_cast<void>(imm);
  const uint32_t result = bits_of(type);
  if (result < 64) out &= (1ull << result) - 1;
  return true;
}

}  // namespace

Op inverse(Op op) {
  switch (op) {
    case Op::ieq:
      return Op::ine;
    case Op::ine:
      return Op::ieq;
    case Op::feq:
      return Op::fune;
    case Op::fune:
      return Op::feq;
    case Op::fne:
      return Op::fueq;
    case Op::fueq:
      return Op::fne;
    default:
      return Op::count;
  }
}
// not (a op b) = (b swapped a).
Op inverse_swapped(Op op) {
  switch (op) {
    case Op::ult:
      return Op::ule;
    case Op::ule:
      return Op::ult;
    case Op::slt:
      return Op::sle;
    case Op::sle:
      return Op::slt;
    case Op::flt:
      return Op::fule;
    case Op::fle:
      return Op::fult;
    case Op::fult:
      return Op::fle;
    case Op::fule:
      return Op::flt;
    default:
      return Op::count;
  }
}

bool is_large_addend(const Function& f, Value v) {
  const Inst& inst = f.at(v);
  return inst.op == Op::constant && inst.type == Type::f32 && (inst.imm & 0x7fffffff) >= (127u - 76) << 23;
}

bool can_be_denormal(const Function& f, Value v, int depth) {
  const Inst& inst = f.at(v);
  const auto any = [&](size_t first) {
    const auto args = f.args(inst);
    for (size_t i = first; i < args.size(); ++i)
      if (!args[i] || can_be_denormal(f, args[i], depth - 1)) return true;
    return false;
  };
  switch (inst.op) {
    case Op::constant: {
      const FloatShape shape = shape_of(inst.type);
      const uint64_t bits = f.constant_bits(inst);
      return (bits & shape.infinity()) == 0 && (bits & shape.mantissa_mask()) != 0;
    }
    case Op::fflush:
    case Op::fsqrt:
    case Op::frsq:
    case Op::ffloor:
    case Op::fceil:
    case Op::ftrunc:
    case Op::frint:
    case Op::s_to_f:
    case Op::u_to_f:
      return false;
    case Op::fneg:
    case Op::fabs:
    case Op::fmin:
    case Op::fmax:
    case Op::fsaturate:
    case Op::copy:
      return depth == 0 || any(0);
    case Op::select:
      return depth == 0 || any(1);
    case Op::ffma:
      return !is_large_addend(f, f.args(inst)[2]);
    case Op::fadd:
    case Op::fsub:
      return !is_large_addend(f, f.args(inst)[0]) && !is_large_addend(f, f.args(inst)[1]);
    case Op::bitcast: {
      const Value from = f.args(inst)[0];
      return depth == 0 || !is_float(f.type(from)) || can_be_denormal(f, from, depth - 1);
    }
    default:
      return true;
  }
}

bool are_opposite(const Function& f, Value x, Value y) {
  const Inst &a = f.at(x), &b = f.at(y);
  if (a.type != Type::b1 || b.type != Type::b1) return false;
  if (a.op == Op::inot && f.args(a)[0] == y) return true;
  if (b.op == Op::inot && f.args(b)[0] == x) return true;
  if (a.count != 2 || b.count != 2) return false;
  if (inverse(a.op) == b.op) return f.args(a)[0] == f.args(b)[0] && f.args(a)[1] == f.args(b)[1];
  return inverse_swapped(a.op) == b.op && f.args(a)[0] == f.args(b)[1] && f.args(a)[1] == f.args(b)[0];
}

bool implies(const Function& f, Value x, Value y, int depth) {
  if (x == y) return true;
  if (depth == 0) return false;
  const Inst& inst = f.at(x);
  if (inst.op == Op::constant) return inst.imm == 0;
  if (inst.op == Op::copy) return implies(f, f.args(inst)[0], y, depth);
  if (inst.op == Op::iand) {
    return implies(f, f.args(inst)[0], y, depth - 1) || implies(f, f.args(inst)[1], y, depth - 1);
  }
  if (inst.op == Op::ior) {
    return implies(f, f.args(inst)[0], y, depth - 1) && implies(f, f.args(inst)[1], y, depth - 1);
  }
  if (inst.op == Op::phi && inst.count <= 4) {
    // What a loop's header gets from the round before has to do with the values of that round.
    const bool header = f.graph != nullptr && f.graph->blocks[inst.block].merge == cfg::MergeKind::loop;
    if (header && f.at(y).block != ~0u && f.at(y).block >= inst.block) return false;
    for (Value v : f.args(inst))
      if (!v || (v != x && !implies(f, v, y, depth - 1))) return false;
    return true;
  }
  return false;
}

Value simplify(Builder& b, const Function& f, Op op, Type type, std::span<const Value> args, uint32_t imm) {
  uint64_t c[4] = {};
  bool constant[4] = {};
  const size_t count = args.size();
  if (count == 0 || count > 3) return {};
  bool all = true;
  for (size_t i = 0; i < count; ++i) all &= constant[i] = b.is_constant(args[i], c[i]);
  const Type operand = f.type(args[0]);
  uint64_t out = 0;
  if (all && (evaluate(op, type, operand, c, imm, out) || fold_floats(op, type, operand, c, imm, out))) {
    return b.constant(type, out);
  }
  auto arg = [&](Value v, size_t i) { return f.args(v)[i]; };
  auto op_of = [&](Value v) { return f.at(v).op; };
  const uint64_t ones = bits_of(type) == 64 ? ~0ull : (1ull << bits_of(type)) - 1;
  // The constant of a commuting operation is on the right.
  const Value x = args[0], y = count > 1 ? args[1] : Value{};
  switch (op) {
    case Op::iadd:
      if (constant[1] && c[1] == 0) return x;
      if (constant[1] && op_of(x) == Op::iadd) {
        uint64_t inner = 0;
        if (b.is_constant(arg(x, 1), inner)) return b.op(Op::iadd, type, {arg(x, 0), b.constant(type, inner + c[1])});
      }
      break;
    case Op::isub:
      if (constant[1]) return b.op(Op::iadd, type, {x, b.constant(type, 0 - c[1])});
      if (x == y) return b.constant(type, 0);
      break;
    case Op::shl:
    case Op::lshr:
    case Op::ashr:
      if (constant[1] && (c[1] & (bits_of(type) - 1)) == 0) return x;
      break;
    case Op::imul:
      if (constant[1] && c[1] == 1) return x;
      if (constant[1] && c[1] == 0) return y;
      if (constant[1] && std::has_single_bit(c[1])) {
        return b.op(Op::shl, type, {x, b.constant(type, static_cast<uint64_t>(std::countr_zero(c[1])))});
      }
      break;
    case Op::iand:
      if (constant[1] && c[1] == 0) return y;
      if ((constant[1] && c[1] == ones) || x == y) return x;
      if (type == Type::b1) {
        if (op_of(x) == Op::inot && arg(x, 0) == y) return b.b1(false);
        if (op_of(y) == Op::inot && arg(y, 0) == x) return b.b1(false);
        if (implies(f, x, y)) return x;
        if (implies(f, y, x)) return y;
        // E and not (E and c) = E and not c.
        for (int i = 0; i < 2; ++i) {
          const Value e = i ? y : x, n = i ? x : y;
          if (op_of(n) != Op::inot || op_of(arg(n, 0)) != Op::iand) continue;
          const Value in = arg(n, 0);
          for (size_t j = 0; j < 2; ++j)
            if (arg(in, j) == e) return b.op(Op::iand, type, {e, b.lnot(arg(in, 1 - j))});
        }
      }
      break;
    case Op::ior:
      if (constant[1] && c[1] == ones) return y;
      if ((constant[1] && c[1] == 0) || x == y) return x;
      if (type == Type::b1) {
        if (implies(f, x, y)) return y;
        if (implies(f, y, x)) return x;
        if (op_of(x) == Op::iand && op_of(y) == Op::iand) {
          // (E and c) or (E and not c) = E.
          for (size_t i = 0; i < 2; ++i)
            for (size_t j = 0; j < 2; ++j)
              if (arg(x, i) == arg(y, j) && b.lnot(arg(x, 1 - i)) == arg(y, 1 - j)) return arg(x, i);
        }
      }
      break;
    case Op::ixor:
      if (constant[1] && c[1] == 0) return x;
      if (x == y) return b.constant(type, 0);
      if (constant[1] && c[1] == ones) return b.lnot(x);
      if (type == Type::b1) {
        // (E and c) xor E = E and not c.
        for (int i = 0; i < 2; ++i) {
          const Value in = i ? y : x, e = i ? x : y;
          if (op_of(in) != Op::iand) continue;
          for (size_t j = 0; j < 2; ++j)
            if (arg(in, j) == e) return b.op(Op::iand, type, {e, b.lnot(arg(in, 1 - j))});
        }
      }
      break;
    case Op::inot:
      if (op_of(x) == Op::inot) return arg(x, 0);
      if (type == Type::b1) {
        if (const Op o = inverse(op_of(x)); o != Op::count) return b.op(o, Type::b1, {arg(x, 0), arg(x, 1)});
        if (const Op o = inverse_swapped(op_of(x)); o != Op::count) return b.op(o, Type::b1, {arg(x, 1), arg(x, 0)});
      }
      break;
    case Op::fneg:
      if (op_of(x) == Op::fneg) return arg(x, 0);
      break;
    case Op::fabs:
      if (op_of(x) == Op::fneg || op_of(x) == Op::fabs) return b.op(Op::fabs, type, {arg(x, 0)});
      break;
    case Op::ieq:
    case Op::ine: {
      const bool equal = op == Op::ieq;
      if (x == y) return b.b1(equal);
      if (operand == Type::b1 && constant[1]) return (c[1] == 1) == equal ? x : b.lnot(x);
      // select(c, a, b) against a constant, a and b constants that differ: c or not c.
      if (constant[1] && op_of(x) == Op::select) {
        uint64_t t = 0, e = 0;
        if (b.is_constant(arg(x, 1), t) && b.is_constant(arg(x, 2), e) && t != e && (c[1] == t || c[1] == e)) {
          return (c[1] == t) == equal ? arg(x, 0) : b.lnot(arg(x, 0));
        }
      }
      break;
    }
    case Op::ult:
    case Op::slt:
      // The carry of an addition of zero.
      if (x == y || (op == Op::ult && constant[1] && c[1] == 0)) return b.b1(false);
      break;
    case Op::ule:
    case Op::sle:
      if (x == y || (op == Op::ule && constant[0] && c[0] == 0)) return b.b1(true);
      break;
    case Op::select:
      if (constant[0]) return c[0] ? y : args[2];
      if (y == args[2]) return y;
      if (op_of(y) == Op::undefined) return args[2];
      if (op_of(args[2]) == Op::undefined) return y;
      if (type == Type::b1) {
        if (constant[1] && constant[2]) return c[1] ? x : b.lnot(x);
        if (constant[1]) return c[1] ? b.lor(x, args[2]) : b.land(b.lnot(x), args[2]);
        if (constant[2]) return c[2] ? b.lor(b.lnot(x), y) : b.land(x, y);
      }
      if (op_of(x) == Op::inot) return b.op(Op::select, type, {arg(x, 0), args[2], y});
      if (op_of(y) == Op::select && arg(y, 0) == x) return b.op(Op::select, type, {x, arg(y, 1), args[2]});
      if (op_of(args[2]) == Op::select && arg(args[2], 0) == x) return b.op(Op::select, type, {x, y, arg(args[2], 2)});
      break;
    case Op::bitcast:
      if (operand == type) return x;
      if (op_of(x) == Op::bitcast) {
        const Value inner = arg(x, 0);
        return f.type(inner) == type ? inner : b.op(Op::bitcast, type, {inner});
      }
      if (op_of(x) == Op::undefined) break;
      break;
    case Op::truncate:
      if ((op_of(x) == Op::zext || op_of(x) == Op::sext) && f.type(arg(x, 0)) == type) return arg(x, 0);
      break;
    case Op::pack64:
      if (op_of(x) == Op::low32 && op_of(y) == Op::high32 && arg(x, 0) == arg(y, 0)) return arg(x, 0);
      break;
    case Op::low32:
      if (op_of(x) == Op::pack64) return arg(x, 0);
      if (op_of(x) == Op::zext && f.type(arg(x, 0)) == Type::u32) return arg(x, 0);
      break;
    case Op::high32:
      if (op_of(x) == Op::pack64) return arg(x, 1);
      if (op_of(x) == Op::zext) return b.u32(0);
      break;
    case Op::ballot:
      if (constant[0]) return b.u32(c[0] ? ~0u : 0u);
      if (!f.at(x).per_lane) return b.select(x, b.u32(~0u), b.u32(0));
      if (op_of(x) == Op::lane_bit && imm < f.at(x).count) return arg(x, imm);
      break;
    case Op::lane_bit:
      if (all && c[0] == c[1 % count] && (c[0] == 0 || c[0] == 0xffffffff)) return b.b1(c[0] != 0);
      if (op_of(x) == Op::ballot &&
          (count == 1 || (op_of(y) == Op::ballot && arg(x, 0) == arg(y, 0) && f.at(x).imm == 0 && f.at(y).imm == 1))) {
        return arg(x, 0);
      }
      if (op_of(x) == Op::undefined) return b.b1(false);
      break;
    case Op::any:
      if (!f.at(x).per_lane) return x;
      if (op_of(x) == Op::lane_bit) {
        return b.op(Op::ine, Type::b1, {f.at(x).count == 1 ? arg(x, 0) : b.lor(arg(x, 0), arg(x, 1)), b.u32(0)});
      }
      break;
    case Op::mask_nonzero:
      if (constant[0]) return x;
      if (constant[1] && (count == 2 || constant[2])) return b.b1(c[1] != 0 || c[2] != 0);
      break;
    case Op::first_lane:
      if (constant[0]) return b.u32(0);
      break;
    case Op::read_lane:
    case Op::shuffle:
      if (!f.at(x).per_lane) return x;
      break;
    default:
      break;
  }
  return {};
}

}  // namespace orrery::shader::ir
