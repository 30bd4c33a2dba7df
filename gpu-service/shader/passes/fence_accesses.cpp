// Fences where lanes of a wave may talk: forward over the program, joins and loops included. Where bound buffers and
// guest addresses lie is the guest's business (two descriptors may name the same bytes), so all memory is one class;
// LDS is another, and private memory is nobody else's.
#include <array>

#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using ir::Op;
using ir::Space;

namespace {

// Accesses since the last fence, on any way here. Memory counts from the wait on (hardware promises no order before
// it), LDS at once: a wave's LDS accesses are done in order. Sums are atomics whose order among each other makes no
// difference: all the same operation, and nobody asks for what was there before.
enum State : uint32_t {
  kLoad = 1,
  kStore = 2,
  kSum = 4,
  kAll = kLoad | kStore | kSum,
};
constexpr uint32_t kLds = 0, kMemory = 4, kWaited = 8;  // where the three bits of each stand

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
  bool is_lds(const ir::Inst& inst) const { return f_.accesses[inst.imm].space == Space::lds; }
  void look_for_stores(const ir::Inst& inst) {
    if (!is_access(inst) || inst.op == Op::load) return;
    const ir::Access& a = f_.accesses[inst.imm];
    scalar_stores_ |= a.scalar;
    if (a.space == Space::scratch) return;
    (is_lds(inst) ? lds_stores_ : stores_) = true;
    if (!adds_up(a)) return;
    Kind& kind = kinds_[is_lds(inst)];
    const Kind now{a.atomic, a.bytes};
    if (kind.op == ir::AtomicOp::none) kind = now;
    if (kind != now) mixed_[is_lds(inst)] = true;
  }
  static bool adds_up(const ir::Access& a) {
    switch (a.atomic) {
      case ir::AtomicOp::add:
      case ir::AtomicOp::sub:
      case ir::AtomicOp::umin:
      case ir::AtomicOp::smin:
      case ir::AtomicOp::umax:
      case ir::AtomicOp::smax:
      case ir::AtomicOp::iand:
      case ir::AtomicOp::ior:
      case ir::AtomicOp::ixor:
        return !a.returns;
      default:
        return false;
    }
  }

  State kind_of(const ir::Inst& inst) const {
    if (inst.op == Op::load) return kLoad;
    return inst.op == Op::atomic && adds_up(f_.accesses[inst.imm]) && !mixed_[is_lds(inst)] ? kSum : kStore;
  }
  // A fence is needed between a store and what follows it, and between a load and a store behind it.
  bool needs_fence(const ir::Inst& inst, uint32_t state) const {
    const State kind = kind_of(inst);
    const uint32_t conflicts = kind == kLoad ? kStore | kSum : kind == kSum ? kLoad | kStore : kAll;
    if (is_lds(inst)) return lds_stores_ && (state >> kLds & conflicts) != 0;
    return stores_ && (state >> kWaited & conflicts) != 0;
  }

  uint32_t through(const ir::Block& block, uint32_t state) {
    for (const uint32_t id : block.body) {
      const ir::Inst& inst = f_.insts[id];
      if (inst.op == Op::group_barrier) state = 0;
      // What the scalar unit stores is waited for as LDS is.
      if (inst.op == Op::wave_wait && ((inst.imm & 1) || scalar_stores_)) state |= (state >> kMemory & kAll) << kWaited;
      if (!is_access(inst) || f_.accesses[inst.imm].space == Space::scratch) continue;
      if (fenced_[id] || needs_fence(inst, state)) {
        fenced_[id] = 1;
        state = 0;
      }
      state |= kind_of(inst) << (is_lds(inst) ? kLds : kMemory);
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
  struct Kind {
    ir::AtomicOp op = ir::AtomicOp::none;
    uint32_t bytes = 0;
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  std::array<Kind, 2> kinds_{};  // of atomics that add up, in memory and in LDS
  std::array<bool, 2> mixed_{};  // they are of several kinds
};

}  // namespace

void fence_accesses(ir::Function& f) { Fences(f).run(); }

}  // namespace orrery::shader::passes
