// What one lane sees of values when a few booleans are known for it.
#pragma once

#include "gpu-service/shader/ir/function.hpp"

namespace orrery::shader::passes {

// A value with the same bits (bitcasts do not count), or a known boolean.
using Seen = uint32_t;
inline constexpr Seen kFalse = ~0u, kTrue = ~0u - 1;

class LaneView {
 public:
  explicit LaneView(const ir::Function& f) : f_(f), seen_(f.insts.size()), stamp_(f.insts.size()) {}
  virtual ~LaneView() = default;
  LaneView(const LaneView&) = delete;
  LaneView& operator=(const LaneView&) = delete;

 protected:
  // Of a value that was not set since restart().
  virtual Seen unset(ir::Value v) = 0;

  void restart() { ++now_; }
  bool is_set(ir::Value v) const { return stamp_[v.id] == now_; }
  void set(ir::Value v, Seen seen) {
    seen_[v.id] = seen;
    stamp_[v.id] = now_;
  }
  Seen see(ir::Value v);
  // An operation (no phi) whose operands have been seen.
  Seen evaluate(uint32_t id);
  // Never both: one is the other's opposite, or made of what is.
  bool excludes(Seen a, Seen b, int depth = 3);
  // A value that excludes() must not build on.
  virtual bool set_aside(ir::Value) { return false; }

  const ir::Function& f_;

 private:
  bool opposite(Seen a, Seen b);

  std::vector<Seen> seen_;
  std::vector<uint32_t> stamp_;
  uint32_t now_ = 0;
};

}  // namespace orrery::shader::passes
