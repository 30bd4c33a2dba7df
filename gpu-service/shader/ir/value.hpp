// Types and handles of the translator's IR.
#pragma once

#include <cstdint>

namespace orrery::shader::ir {

// b1 is a condition or, per lane, a lane mask. Integers carry no sign: operations do.
enum class Type : uint8_t { none, b1, u16, u32, u64, f16, f32, f64 };

constexpr uint32_t bits_of(Type type) {
  switch (type) {
    case Type::none:
      return 0;
    case Type::b1:
      return 1;
    case Type::u16:
    case Type::f16:
      return 16;
    case Type::u32:
    case Type::f32:
      return 32;
    case Type::u64:
    case Type::f64:
      return 64;
  }
  return 0;
}
constexpr bool is_float(Type type) { return type >= Type::f16; }
constexpr bool is_integer(Type type) { return type >= Type::u16 && type <= Type::u64; }

// One SSA value. Uniform values are the same for every lane of the wave; per-lane values differ by lane. Which of the
// two a value is follows from its operation and operands; how many lanes an invocation holds (k) is invisible here.
struct Value {
  uint32_t id = ~0u;
  explicit constexpr operator bool() const { return id != ~0u; }
  friend constexpr bool operator==(Value, Value) = default;
};

// One line per operation in operations.inc.
enum class Op : uint8_t {
#define ORRERY_IR_OP(name, traits) name,
#include "gpu-service/shader/ir/operations.inc"
#undef ORRERY_IR_OP
  count,
};

const char* name_of(Op op);

// pure: depends on operands only. commutes: pure, two operands in any order. cross: pure, reads other lanes. effect:
// stays in place.
enum class Traits : uint8_t { pure, commutes, cross, effect };
Traits traits_of(Op op);

}  // namespace orrery::shader::ir
