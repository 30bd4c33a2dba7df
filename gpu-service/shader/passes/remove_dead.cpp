#include "gpu-service/shader/passes/liveness.hpp"
#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using ir::Op;

// Backwards, so that most users have been seen before what they use; what reaches a header's phi around its loop has
// not.
std::vector<uint8_t> live_values(const ir::Function& f) {
  std::vector<uint8_t> live(f.insts.size(), 0);
  std::vector<uint32_t> work;
  const auto need_all = [&] {
    while (!work.empty()) {
      const uint32_t id = work.back();
      work.pop_back();
      for (const ir::Value v : f.args(ir::Value{id})) {
        if (live[v.id]) continue;
        live[v.id] = 1;
        work.push_back(v.id);
      }
    }
  };
  for (size_t n = f.blocks.size(); n-- > 0;) {
    const ir::Block& block = f.blocks[n];
    if (block.condition) live[block.condition.id] = 1;
    for (size_t i = block.body.size(); i-- > 0;) {
      const uint32_t id = block.body[i];
      const ir::Inst& inst = f.insts[id];
      // A load that nobody uses is not made: it has no effect that the guest can see.
      if (!live[id] && (ir::traits_of(inst.op) != ir::Traits::effect || inst.op == Op::load)) continue;
      live[id] = 1;
      for (const ir::Value v : f.args(inst)) live[v.id] = 1;
    }
    for (const uint32_t phi : block.phis) {
      if (!live[phi]) continue;
      for (const ir::Value v : f.args(ir::Value{phi})) {
        if (live[v.id]) continue;
        live[v.id] = 1;
        const uint32_t block_of = f.at(v).block;
        if (block_of != ~0u && block_of >= n) work.push_back(v.id);
      }
    }
    need_all();
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
