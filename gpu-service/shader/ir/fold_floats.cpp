#include "gpu-service/shader/ir/fold_floats.hpp"

#include <bit>
#include <cmath>
#include <type_traits>

namespace orrery::shader::ir {
namespace {

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template <typename T>
T number(uint64_t bits) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}
template <typename T>
bool give(T value, uint64_t& out) {
  out = std::bit_cast<BitsOf<T>>(value);
  return !std::isnan(value);
}

template <typename T>
bool arithmetic(Op op, T x, T y, uint64_t& out) {
  switch (op) {
    case Op::fadd:
      return give(x + y, out);
    case Op::fsub:
      return give(x - y, out);
    case Op::fmul:
      return give(x * y, out);
    case Op::ffloor:
      return give(std::floor(x), out);
    case Op::fceil:
      return give(std::ceil(x), out);
    case Op::ftrunc:
      return give(std::trunc(x), out);
    case Op::frint:
      return give(std::nearbyint(x), out);
    case Op::ffract:
      return x == 0 && give(T{0}, out);
    case Op::fflush:
      return give(std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(T{0}, x) : x, out);
    // Zeros of different signs, and NaNs, are the device's to choose.
    case Op::fmin:
      return x != y && give(x < y ? x : y, out) && !std::isnan(x) && !std::isnan(y);
    case Op::fmax:
      return x != y && give(x < y ? y : x, out) && !std::isnan(x) && !std::isnan(y);
    default:
      return false;
  }
}

template <typename T>
bool converted(Op op, Type operand, uint64_t bits, uint64_t& out) {
  if (op == Op::u_to_f) return give(static_cast<T>(bits), out);
  const uint32_t shift = 64 - bits_of(operand);
  return give(static_cast<T>(static_cast<int64_t>(bits << shift) >> shift), out);
}

// Not of denormals, which a device may take for zero.
template <typename T>
bool compared(Op op, T x, T y, uint64_t& out) {
  const auto plain = [](T v) { return v == 0 || std::isnormal(v) || std::isinf(v); };
  if (!plain(x) || !plain(y)) return false;
  switch (op) {
    case Op::feq:
      out = x == y;
      return true;
    case Op::fune:
      out = x != y;
      return true;
    case Op::flt:
      out = x < y;
      return true;
    case Op::fle:
      out = x <= y;
      return true;
    default:
      return false;
  }
}

}  // namespace

bool fold_floats(Op op, Type type, Type operand, const uint64_t* bits, uint32_t imm, uint64_t& out) {
  if (op == Op::s_to_f || op == Op::u_to_f) {
    if (type == Type::f32) return converted<float>(op, operand, bits[0], out);
    return type == Type::f64 && converted<double>(op, operand, bits[0], out);
  }
  if (op == Op::f_to_f) {
    if (operand == Type::f32 && type == Type::f64) return give(static_cast<double>(number<float>(bits[0])), out);
    return operand == Type::f64 && type == Type::f32 && imm == 0 &&
           give(static_cast<float>(number<double>(bits[0])), out);
  }
  if (type == Type::b1 && operand == Type::f32)
    return compared(op, number<float>(bits[0]), number<float>(bits[1]), out);
  if (type == Type::b1 && operand == Type::f64) {
    return compared(op, number<double>(bits[0]), number<double>(bits[1]), out);
  }
  if (type != operand) return false;
  if (type == Type::f32) return arithmetic(op, number<float>(bits[0]), number<float>(bits[1]), out);
  return type == Type::f64 && arithmetic(op, number<double>(bits[0]), number<double>(bits[1]), out);
}

}  // namespace orrery::shader::ir
