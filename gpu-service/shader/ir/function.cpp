#include "gpu-service/shader/ir/function.hpp"

namespace orrery::shader::ir {

const char* name_of(Op op) {
  static constexpr const char* kNames[] = {
#define ORRERY_IR_OP(name, traits) #name,
#include "gpu-service/shader/ir/operations.inc"
#undef ORRERY_IR_OP
  };
  return op < Op::count ? kNames[static_cast<size_t>(op)] : "?";
}

Traits traits_of(Op op) {
  static constexpr Traits pure = Traits::pure, commutes = Traits::commutes, cross = Traits::cross,
                          effect = Traits::effect;
  static constexpr Traits kTraits[] = {
#define ORRERY_IR_OP(name, traits) traits,
#include "gpu-service/shader/ir/operations.inc"
#undef ORRERY_IR_OP
  };
  return kTraits[static_cast<size_t>(op)];
}

}  // namespace orrery::shader::ir
