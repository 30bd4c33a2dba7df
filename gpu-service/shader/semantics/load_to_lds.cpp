#include "gpu-service/shader/semantics/load_to_lds.hpp"

namespace orrery::shader::semantics {

Outcome load_to_lds(Builder& b, const Instruction& i, Value loaded, const MemoryShape& shape) {
  if (shape.half) return refuse("half of a dword into LDS");
  if (shape.sign_extend) loaded = b.op(Op::bitfield_s, Type::u32, {loaded, b.u32(0), b.u32(shape.bytes * 8u)});
  const Value base = b.land(b.sgpr(Builder::kM0), b.u32(0xffff));
  const Value data[] = {loaded};
  b.store({.space = ir::Space::lds, .offset = i.memory_offset, .instruction = i.offset}, b.exec(),
          b.add(base, b.shl(b.lane_id(), b.u32(2))), data);
  return {};
}

}  // namespace orrery::shader::semantics
