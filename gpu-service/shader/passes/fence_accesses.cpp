// Fences where lanes of a wave may talk: forward over the program, joins and loops included. Where bound buffers and
// guest addresses lie is the guest's business (two descriptors may name the same bytes), so all memory is one class;
// LDS is another, and private memory is nobody else's.
#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using ir::Op;
using ir::Space;

namespace {

// Accesses since the last fence, on any way here. Memory counts from the wait on (hardware promises no order before
// it), LDS at once: a wave's LDS accesses are done in order.
enum State : uint32_t {
  kLdsLoads = 1,
  kLdsStores = 2,
  kLoads = 4,
  kStores = 8,
  kWaitedLoads = 16,
  kWaitedStores = 32,
};

class Fences {
 public:
  explicit Fences(ir::Function& f) : f_(f), fenced_(f.insts.size()), at_start_(f.blocks.size()), at_end_(at_start_) {}

  void run() {
    for (const ir::Block& block : f_.blocks)
      for (const uint32_t id : block.body) look_for_stores(f_.insts[id]);
    if (!stores_ && !lds_stores_) return;
    // What is known at a block's start only grows and a fence stays, so this ends.
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t n = 0; n < f_.blocks.size(); ++n) {
        uint32_t state = at_start_[n];
        for (const uint32_t p : f_.blocks[n].predecessors) state |= at_end_[p];
        at_start_[n] = state;
        state = through(f_.blocks[n], state);
        changed |= state != at_end_[n];
        at_end_[n] = state;
      }
    }
    for (size_t n = 0; n < f_.blocks.size(); ++n) write(static_cast<uint32_t>(n));
  }

 private:
  static bool is_access(const ir::Inst& inst) {
    return inst.op == Op::load || inst.op == Op::store || inst.op == Op::atomic;
  }
  void look_for_stores(const ir::Inst& inst) {
    if (!is_access(inst) || inst.op == Op::load) return;
    const Space space = f_.accesses[inst.imm].space;
    scalar_stores_ |= f_.accesses[inst.imm].scalar;
    if (space != Space::scratch) (space == Space::lds ? lds_stores_ : stores_) = true;
  }

  // A fence is needed between a store and what follows it, and between a load and a store behind it.
  bool needs_fence(const ir::Inst& inst, uint32_t state) const {
    const bool writes = inst.op != Op::load;
    if (f_.accesses[inst.imm].space == Space::lds) {
      return lds_stores_ && ((state & kLdsStores) || (writes && (state & kLdsLoads)));
    }
    return stores_ && ((state & kWaitedStores) || (writes && (state & kWaitedLoads)));
  }

  uint32_t through(const ir::Block& block, uint32_t state) {
    for (const uint32_t id : block.body) {
      const ir::Inst& inst = f_.insts[id];
      if (inst.op == Op::group_barrier) state = 0;
      // What the scalar unit stores is waited for as LDS is.
      if (inst.op == Op::wave_wait && ((inst.imm & 1) || scalar_stores_)) {
        if (state & kLoads) state |= kWaitedLoads;
        if (state & kStores) state |= kWaitedStores;
      }
      if (!is_access(inst) || f_.accesses[inst.imm].space == Space::scratch) continue;
      if (fenced_[id] || needs_fence(inst, state)) {
        fenced_[id] = 1;
        state = 0;
      }
      const bool lds = f_.accesses[inst.imm].space == Space::lds, writes = inst.op != Op::load;
      state |= lds ? (writes ? kLdsStores : kLdsLoads) : (writes ? kStores : kLoads);
    }
    return state;
  }

  void write(uint32_t n) {
    std::vector<uint32_t> body;
    for (const uint32_t id : f_.blocks[n].body) {
      if (id < fenced_.size() && fenced_[id]) {
        body.push_back(static_cast<uint32_t>(f_.insts.size()));
        f_.insts.push_back({.op = Op::wave_fence, .imm = 3, .block = n});
      }
      body.push_back(id);
    }
    f_.blocks[n].body = std::move(body);
  }

  ir::Function& f_;
  std::vector<uint8_t> fenced_;  // by access: a fence stands in front of it
  std::vector<uint32_t> at_start_, at_end_;
  bool stores_ = false, lds_stores_ = false, scalar_stores_ = false;
};

}  // namespace

void fence_accesses(ir::Function& f) { Fences(f).run(); }

}  // namespace orrery::shader::passes
