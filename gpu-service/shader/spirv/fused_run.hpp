// Fused multiply-adds that stand close together and are checked for denormals all at once (emit_fused.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu-service/shader/ir/function.hpp"

namespace orrery::shader::spirv {

// Of floats, where MODE keeps denormals.
bool is_checked_fma(const ir::Inst& inst);

struct FusedRun {
  std::span<const uint32_t> all;     // in a row, from one fused multiply-add to another
  std::vector<uint32_t> dependents;  // those that depend on one: pure, and none reads other lanes
};

class FusedRuns {
 public:
  FusedRuns(const ir::Function& function, uint32_t slots);
  // The run that `body`, of a block, begins with; an empty one where there are fewer than two fused multiply-adds.
  FusedRun at(std::span<const uint32_t> body);
  // Is one of the run's values read behind it?
  bool leaves(const FusedRun& run, uint32_t inst) const { return last_reader_[inst] > position_[run.all.back()]; }

 private:
  const ir::Function& f_;
  const uint32_t slots_;
  std::vector<uint32_t> position_, last_reader_;  // in the order that code is written in; ~0: a phi
  std::vector<bool> depends_;                     // on a run that is being found
};

}  // namespace orrery::shader::spirv
