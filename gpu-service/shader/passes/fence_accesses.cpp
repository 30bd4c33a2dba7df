#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using ir::Op;
using ir::Space;

namespace {

// Accesses since the last fence. Memory counts from the wait on (hardware promises no order before it), LDS at once: a
// wave's LDS accesses are done in order.
struct State {
  bool lds_loads = false, lds_stores = false;
  bool loads = false, stores = false, waited_loads = false, waited_stores = false;
};
constexpr State kAnything{true, true, true, true, true, true};

bool is_lds(const ir::Access& a) { return a.space == Space::lds; }

}  // namespace

void fence_accesses(ir::Function& f) {
  bool stores = false, lds_stores = false;
  for (const ir::Block& block : f.blocks) {
    for (const uint32_t id : block.body) {
      const ir::Inst& inst = f.insts[id];
      if (inst.op != Op::store && inst.op != Op::atomic) continue;
      const ir::Access& a = f.accesses[inst.imm];
      if (a.space != Space::scratch) (is_lds(a) ? lds_stores : stores) = true;
    }
  }
  if (!stores && !lds_stores) return;
  std::vector<State> at_end(f.blocks.size(), kAnything);
  std::vector<uint32_t> body;
  for (size_t n = 0; n < f.blocks.size(); ++n) {
    ir::Block& block = f.blocks[n];
    State s = kAnything;
    if (block.predecessors.empty())
      s = {};
    else if (block.predecessors.size() == 1 && block.predecessors[0] < n)
      s = at_end[block.predecessors[0]];
    body.clear();
    for (const uint32_t id : block.body) {
      const ir::Inst inst = f.insts[id];
      if (inst.op == Op::group_barrier) s = {};
      if (inst.op == Op::wave_wait && (inst.imm & 1)) {
        s.waited_loads |= s.loads;
        s.waited_stores |= s.stores;
      }
      if (inst.op == Op::load || inst.op == Op::store || inst.op == Op::atomic) {
        const ir::Access& a = f.accesses[inst.imm];
        const bool writes = inst.op != Op::load;
        bool fence = false;
        if (a.space == Space::scratch) {
        } else if (is_lds(a)) {
          // Atomics after atomics need none: they do not order each other's lanes.
          fence = lds_stores && (s.lds_stores || (writes && s.lds_loads));
        } else {
          fence = stores && (s.waited_stores || (writes && s.waited_loads));
        }
        if (fence) {
          body.push_back(static_cast<uint32_t>(f.insts.size()));
          f.insts.push_back({.op = Op::wave_fence, .imm = 3, .block = static_cast<uint32_t>(n)});
          s = {};
        }
        if (is_lds(a))
          (writes ? s.lds_stores : s.lds_loads) = true;
        else if (a.space != Space::scratch)
          (writes ? s.stores : s.loads) = true;
      }
      body.push_back(id);
    }
    block.body.assign(body.begin(), body.end());
    at_end[n] = s;
  }
}

}  // namespace orrery::shader::passes
