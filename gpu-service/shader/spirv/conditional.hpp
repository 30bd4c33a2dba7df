// Emitter::conditional and Emitter::either, for the files that write memory accesses.
#pragma once

#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::spirv {

template <class Body>
Emitter::Results Emitter::conditional(Id condition, Id type, uint32_t count, Body body) {
  if (condition == 0) return body();
  const Id before = current_label_, then = module_.new_id(), merge = module_.new_id();
  code(spv::OpSelectionMerge, {merge, 0});
  code(spv::OpBranchConditional, {condition, then, merge});
  label(then);
  Results results = body();
  const Id last = current_label_;
  code(spv::OpBranch, {merge});
  label(merge);
  for (uint32_t n = 0; n < count; ++n) {
    const Id joined = module_.new_id();
    code(spv::OpPhi, {type, joined, results[n], last, module_.null(type), before});
    results[n] = joined;
  }
  return results;
}

// Both ways answer: nothing waits for a loaded value here, as a select of the two would.
template <class Then, class Otherwise>
Emitter::Results Emitter::either(Id condition, Id type, uint32_t count, Then then, Otherwise otherwise) {
  const Id first = module_.new_id(), second = module_.new_id(), merge = module_.new_id();
  code(spv::OpSelectionMerge, {merge, 0});
  code(spv::OpBranchConditional, {condition, first, second});
  label(first);
  Results results = then();
  const Id first_end = current_label_;
  code(spv::OpBranch, {merge});
  label(second);
  const Results others = otherwise();
  const Id second_end = current_label_;
  code(spv::OpBranch, {merge});
  label(merge);
  for (uint32_t n = 0; n < count; ++n) {
    const Id joined = module_.new_id();
    code(spv::OpPhi, {type, joined, results[n], first_end, others[n], second_end});
    results[n] = joined;
  }
  return results;
}

// The same for any number of u32; what answers nothing gives 0.
template <class Then, class Otherwise>
std::vector<Id> Emitter::joined(Id condition, Then then, Otherwise otherwise) {
  const Id first = module_.new_id(), second = module_.new_id(), merge = module_.new_id();
  code(spv::OpSelectionMerge, {merge, 0});
  code(spv::OpBranchConditional, {condition, first, second});
  label(first);
  std::vector<Id> results = then();
  const Id first_end = current_label_;
  code(spv::OpBranch, {merge});
  label(second);
  const std::vector<Id> others = otherwise();
  const Id second_end = current_label_;
  code(spv::OpBranch, {merge});
  label(merge);
  for (size_t n = 0; n < results.size(); ++n) {
    const Id joined = module_.new_id(), other = others.empty() ? u32(0) : others[n];
    code(spv::OpPhi, {uint_type(), joined, results[n], first_end, other, second_end});
    results[n] = joined;
  }
  return results;
}

}  // namespace orrery::shader::spirv
