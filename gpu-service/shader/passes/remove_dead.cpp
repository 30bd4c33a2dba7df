#include "gpu-service/shader/passes/liveness.hpp"
#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using ir::Op;

std::vector<uint8_t> live_values(const ir::Function& f) {
  std::vector<uint8_t> live(f.insts.size(), 0);
  std::vector<uint32_t> work;
  auto need = [&](ir::Value v) {
    if (live[v.id]) return;
    live[v.id] = 1;
    work.push_back(v.id);
  };
  for (const ir::Block& block : f.blocks) {
    for (const uint32_t id : block.body) {
      const ir::Inst& inst = f.insts[id];
      // A load that nobody uses is not made: it has no effect that the guest can see.
      if (ir::traits_of(inst.op) == ir::Traits::effect && inst.op != Op::load) need({id});
    }
    if (block.condition) need(block.condition);
  }
  while (!work.empty()) {
    const uint32_t id = work.back();
    work.pop_back();
    for (ir::Value v : f.args(ir::Value{id})) need(v);
  }
  return live;
}

void remove_dead(ir::Function& f) {
  const std::vector<uint8_t> live = live_values(f);
  for (ir::Block& block : f.blocks) {
    std::erase_if(block.phis, [&](uint32_t id) { return !live[id]; });
    std::erase_if(block.body, [&](uint32_t id) { return !live[id]; });
  }
}

}  // namespace orrery::shader::passes
