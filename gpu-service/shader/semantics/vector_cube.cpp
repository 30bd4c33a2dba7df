// Coordinates of a cube map: which face a direction meets, and where. The major axis is z over y over x.
#include "gpu-service/shader/ir/rounding.hpp"
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

struct Direction {
  Value x, y, z;
  Value z_major, y_major;  // b1; y only counts where z is not
};

Direction direction(Builder& b, const Instruction& i) {
  const Value x = source(b, i, 0, Type::f32), y = source(b, i, 1, Type::f32), z = source(b, i, 2, Type::f32);
  const Value ax = b.op(Op::fabs, x), ay = b.op(Op::fabs, y), az = b.op(Op::fabs, z);
  return {x, y, z, b.land(b.compare(Op::fle, ax, az), b.compare(Op::fle, ay, az)), b.compare(Op::fle, ax, ay)};
}

Value by_axis(Builder& b, const Direction& d, Value of_x, Value of_y, Value of_z) {
  return b.select(d.z_major, of_z, b.select(d.y_major, of_y, of_x));
}
Value below_zero(Builder& b, Value v) { return b.compare(Op::flt, v, b.f32(0)); }
Value by_sign(Builder& b, Value v, Value negative, Value other) { return b.select(below_zero(b, v), negative, other); }
Value minus(Builder& b, Value v) { return b.op(Op::fneg, v); }

Outcome face(Builder& b, const Instruction& i) {
  const Direction d = direction(b, i);
  result(b, i,
         by_axis(b, d, by_sign(b, d.x, b.f32(1), b.f32(0)), by_sign(b, d.y, b.f32(3), b.f32(2)),
                 by_sign(b, d.z, b.f32(5), b.f32(4))));
  return {};
}

Outcome s_coordinate(Builder& b, const Instruction& i) {
  const Direction d = direction(b, i);
  result(b, i, by_axis(b, d, by_sign(b, d.x, d.z, minus(b, d.z)), d.x, by_sign(b, d.z, minus(b, d.x), d.x)));
  return {};
}

Outcome t_coordinate(Builder& b, const Instruction& i) {
  const Direction d = direction(b, i);
  result(b, i, by_axis(b, d, minus(b, d.y), by_sign(b, d.y, minus(b, d.z), d.z), minus(b, d.y)));
  return {};
}

// Twice the major axis.
Outcome major_axis(Builder& b, const Instruction& i) {
  const Direction d = direction(b, i);
  result(b, i, ir::rounded_mul(b, by_axis(b, d, d.x, d.y, d.z), b.f32(2)));
  return {};
}

}  // namespace

void add_vector_cube(SemanticTable& t) {
  set(t, Opcode::v_cubeid_f32, face);
  set(t, Opcode::v_cubesc_f32, s_coordinate);
  set(t, Opcode::v_cubetc_f32, t_coordinate);
  set(t, Opcode::v_cubema_f32, major_axis);
}

}  // namespace orrery::shader::semantics
