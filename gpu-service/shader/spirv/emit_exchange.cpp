// What crosses lanes where no subgroup helps: through workgroup memory when one wave is the workgroup, and among the
// slots of one invocation that holds the whole wave. Barriers stand in uniform flow, because every branch of the
// program is uniform within its wave.
#include <spirv/unified1/GLSL.std.450.h>

#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::spirv {

using ir::Op;
using ir::Type;

Id Emitter::function_variable(Id type) {
  const Id variable = module_.new_id();
  put(variables_, spv::OpVariable,
      {module_.pointer(spv::StorageClassFunction, type), variable, static_cast<uint32_t>(spv::StorageClassFunction)});
  return variable;
}

// All slots of v into an array, once where the code stands.
void Emitter::spread(ir::Value v) {
  if (spread_.label == current_label_ && spread_.value == v.id) return;
  spread_ = {current_label_, v.id};
  const Id type = type_of(v);
  Id& array = spread_arrays_[static_cast<size_t>(f_.type(v))];
  if (!array) array = function_variable(module_.array(type, o_.layout.wave));
  const Id pointer = module_.pointer(spv::StorageClassFunction, type);
  for (uint32_t slot = 0; slot < k_; ++slot) {
    code(spv::OpStore, {value(spv::OpAccessChain, pointer, {array, u32(slot)}), id(v, slot)});
  }
}

Id Emitter::picked(ir::Value v, Id lane) {
  spread(v);
  const Id type = type_of(v);
  const Id pointer = module_.pointer(spv::StorageClassFunction, type);
  const Id slot = binary(spv::OpBitwiseAnd, lane, u32(o_.layout.wave - 1));
  const Id array = spread_arrays_[static_cast<size_t>(f_.type(v))];
  return value(spv::OpLoad, type, {value(spv::OpAccessChain, pointer, {array, slot})});
}

// Operands and results lie in arrays of the function meanwhile. Drivers compile one body, not one for each lane.
void Emitter::emit_lane_loop(uint32_t inst, const ir::Inst& i, const ir::Access& a) {
  const Id index_type = uint_type();
  const auto array = [&](uint32_t position, Type type) {
    Id& variable = lane_arrays_[uint64_t{position} << 8 | static_cast<uint64_t>(type)];
    if (!variable) variable = function_variable(module_.array(module_.type(type), k_));
    return variable;
  };
  const auto element = [&](Id variable, Type type, Id at) {
    return value(spv::OpAccessChain, module_.pointer(spv::StorageClassFunction, module_.type(type)), {variable, at});
  };
  const auto args = f_.args(i);
  for (uint32_t n = 0; n < args.size(); ++n) {
    if (!f_.at(args[n]).per_lane) {
      id(args[n], 0);
      continue;
    }
    const Id variable = array(n, f_.type(args[n]));
    for (uint32_t slot = 0; slot < k_; ++slot) {
      code(spv::OpStore, {element(variable, f_.type(args[n]), u32(slot)), id(args[n], slot)});
    }
  }
  const uint32_t results = i.op == Op::store ? 0 : components(i);
  constexpr uint32_t kResults = 64;  // behind every operand's position
  for (uint32_t n = 0; n < results; ++n) lane_loop_.results[n] = array(kResults + n, i.type);

  const Id before = current_label_, header = module_.new_id(), body = module_.new_id(), next = module_.new_id(),
           merge = module_.new_id(), lane = module_.new_id(), following = module_.new_id();
  code(spv::OpBranch, {header});
  label(header);
  code(spv::OpPhi, {index_type, lane, u32(0), before, following, next});
  code(spv::OpLoopMerge, {merge, next, 0});
  code(spv::OpBranch, {body});
  label(body);
  count_round();
  for (uint32_t n = 0; n < args.size(); ++n) {
    const Type type = f_.type(args[n]);
    if (!f_.at(args[n]).per_lane) continue;
    const Id now = value(spv::OpLoad, module_.type(type), {element(array(n, type), type, lane)});
    lane_loop_.values.emplace_back(args[n].id, now);
  }
  lane_loop_.lane = lane;
  lane_loop_.active = true;
  emit_access(inst, i, a, 0);
  lane_loop_.active = false;
  lane_loop_.values.clear();
  code(spv::OpBranch, {next});
  label(next);
  code(spv::OpIAdd, {index_type, following, lane, u32(1)});
  code(spv::OpBranchConditional, {value(spv::OpULessThan, bool_type(), {following, u32(k_)}), header, merge});
  label(merge);
  for (uint32_t slot = 0; slot < k_ && results != 0 && i.per_lane; ++slot) {
    Results loaded{};
    for (uint32_t n = 0; n < results; ++n) {
      loaded[n] = value(spv::OpLoad, module_.type(i.type), {element(lane_loop_.results[n], i.type, u32(slot))});
    }
    finish_load(inst, i, slot, loaded);
  }
}

void Emitter::exchange_barrier() {
  const uint32_t semantics = spv::MemorySemanticsAcquireReleaseMask | spv::MemorySemanticsWorkgroupMemoryMask;
  code(spv::OpControlBarrier, {u32(spv::ScopeWorkgroup), u32(spv::ScopeWorkgroup), u32(semantics)});
}

// Every lane sets its own bit, whatever it was; the second barrier keeps the next mask's bits from these readers.
Id Emitter::exchanged_mask(Id boolean, uint32_t word) {
  if (exchanged_.boolean == boolean && exchanged_.label == current_label_) return exchanged_.words[word];
  const uint32_t words = o_.layout.wave / 32;
  if (!exchange_mask_) exchange_mask_ = module_.variable(spv::StorageClassWorkgroup, module_.array(uint_type(), 2));
  const Id pointer_type = module_.pointer(spv::StorageClassWorkgroup, uint_type());
  const auto pointer = [&](Id at) { return value(spv::OpAccessChain, pointer_type, {exchange_mask_, at}); };
  const Id own_word = words == 1 ? u32(0) : binary(spv::OpShiftRightLogical, lane(0), u32(5));
  const Id bit = binary(spv::OpShiftLeftLogical, u32(1), binary(spv::OpBitwiseAnd, lane(0), u32(31)));
  const Id own = pointer(own_word), scope = u32(spv::ScopeWorkgroup), relaxed = u32(0);
  value(spv::OpAtomicAnd, uint_type(), {own, scope, relaxed, value(spv::OpNot, uint_type(), {bit})});
  value(spv::OpAtomicOr, uint_type(), {own, scope, relaxed, select(uint_type(), boolean, bit, u32(0))});
  exchange_barrier();
  exchanged_ = {boolean, current_label_, {}};
  for (uint32_t w = 0; w < words; ++w) exchanged_.words[w] = value(spv::OpLoad, uint_type(), {pointer(u32(w))});
  if (words == 1) exchanged_.words[1] = u32(0);
  exchange_barrier();
  return exchanged_.words[word];
}

Id Emitter::exchanged_value(Id own, Type type, Id from_lane) {
  const uint32_t bits = ir::bits_of(type), wave = o_.layout.wave;
  if (!exchange_values_) {
    exchange_values_ = module_.variable(spv::StorageClassWorkgroup, module_.array(uint_type(), wave * 2));
  }
  const Id pointer_type = module_.pointer(spv::StorageClassWorkgroup, uint_type());
  const auto pointer = [&](Id of_lane, bool high) {
    const Id at = high ? binary(spv::OpIAdd, of_lane, u32(wave)) : of_lane;
    return value(spv::OpAccessChain, pointer_type, {exchange_values_, at});
  };
  const Id target = module_.type(type), wide = module_.type(Type::u64), pair = module_.vector(uint_type(), 2);
  if (bits == 64) {
    const Id both = value(spv::OpBitcast, pair, {own});
    for (uint32_t n = 0; n < 2; ++n) {
      code(spv::OpStore, {pointer(lane(0), n != 0), value(spv::OpCompositeExtract, uint_type(), {both, n})});
    }
  } else {
    Id word = own;
    if (type == Type::b1) word = select(uint_type(), own, u32(1), u32(0));
    if (type == Type::f32) word = value(spv::OpBitcast, uint_type(), {own});
    if (bits == 16) {
      const Id half = type == Type::f16 ? value(spv::OpBitcast, module_.type(Type::u16), {own}) : own;
      word = value(spv::OpUConvert, uint_type(), {half});
    }
    code(spv::OpStore, {pointer(lane(0), false), word});
  }
  exchange_barrier();
  const Id from = binary(spv::OpBitwiseAnd, from_lane, u32(wave - 1));
  const Id low = value(spv::OpLoad, uint_type(), {pointer(from, false)});
  const Id high = bits == 64 ? value(spv::OpLoad, uint_type(), {pointer(from, true)}) : 0;
  exchange_barrier();
  if (bits == 64) {
    const Id both = value(spv::OpCompositeConstruct, pair, {low, high});
    return value(spv::OpBitcast, type == Type::u64 ? wide : target, {both});
  }
  if (type == Type::b1) return value(spv::OpINotEqual, target, {low, u32(0)});
  if (type == Type::f32) return value(spv::OpBitcast, target, {low});
  if (bits == 16) {
    const Id half = value(spv::OpUConvert, module_.type(Type::u16), {low});
    return type == Type::f16 ? value(spv::OpBitcast, target, {half}) : half;
  }
  return low;
}

void Emitter::emit_exchange(uint32_t inst, const ir::Inst& i) {
  const auto args = f_.args(i);
  const Id type = module_.type(i.type), own = id(args[0], 0);
  switch (i.op) {
    case Op::ballot:
      return alias(inst, 0, exchanged_mask(own, i.imm));
    case Op::any: {
      Id words = exchanged_mask(own, 0);
      if (o_.layout.wave == 64) words = binary(spv::OpBitwiseOr, words, exchanged_mask(own, 1));
      return code(spv::OpINotEqual, {type, define(inst, 0), words, u32(0)});
    }
    case Op::first_lane: {
      Id first = extended(GLSLstd450FindILsb, uint_type(), {exchanged_mask(own, 0)});
      if (o_.layout.wave == 64) {
        // ~0 | 32 stays ~0: FindILsb answers -1 for an empty half.
        const Id high = extended(GLSLstd450FindILsb, uint_type(), {exchanged_mask(own, 1)});
        first = extended(GLSLstd450UMin, uint_type(), {first, binary(spv::OpBitwiseOr, high, u32(32))});
      }
      const Id none = value(spv::OpIEqual, bool_type(), {first, u32(~0u)});
      return code(spv::OpSelect, {uint_type(), define(inst, 0), none, u32(0), first});
    }
    default:  // read_lane, shuffle
      return alias(inst, 0, exchanged_value(own, i.type, id(args[1], 0)));
  }
}

}  // namespace orrery::shader::spirv
