#include "gpu-service/shader/spirv/fused_run.hpp"

#include <algorithm>

namespace orrery::shader::spirv {

using ir::Op;

namespace {

// In all slots: what is computed twice stays alive up to the check.
constexpr uint32_t kMostFused = 32;

bool opens_or_closes(Op op) { return op == Op::lane_if || op == Op::lane_endif || op == Op::lane_join; }

}  // namespace

bool is_checked_fma(const ir::Inst& inst) { return inst.op == Op::ffma && inst.type == ir::Type::f32 && inst.imm == 0; }

FusedRuns::FusedRuns(const ir::Function& f, uint32_t slots)
    : f_(f),
      slots_(std::min(slots, kMostFused / 2)),
      position_(f.insts.size(), 0),
      last_reader_(f.insts.size(), 0),
      depends_(f.insts.size(), false) {
  uint32_t now = 0;
  for (const ir::Block& b : f.blocks) {
    for (const uint32_t phi : b.phis) {
      for (const ir::Value v : f.args(f.insts[phi])) last_reader_[v.id] = ~0u;
    }
    for (const uint32_t inst : b.body) {
      position_[inst] = ++now;
      for (const ir::Value v : f.args(f.insts[inst])) last_reader_[v.id] = std::max(last_reader_[v.id], now);
    }
    if (b.condition) last_reader_[b.condition.id] = std::max(last_reader_[b.condition.id], ++now);
  }
}

FusedRun FusedRuns::at(std::span<const uint32_t> body) {
  FusedRun run;
  if (body.empty() || !is_checked_fma(f_.insts[body[0]])) return run;
  uint32_t fused = 0;
  size_t end = 0, dependents = 0;
  for (size_t at = 0; at < body.size() && fused < kMostFused / slots_; ++at) {
    const ir::Inst& i = f_.insts[body[at]];
    if (opens_or_closes(i.op)) break;
    const bool checked = is_checked_fma(i);
    if (!checked && std::ranges::none_of(f_.args(i), [&](ir::Value v) { return depends_[v.id]; })) continue;
    const ir::Traits traits = ir::traits_of(i.op);
    if (traits == ir::Traits::effect || traits == ir::Traits::cross) break;
    run.dependents.push_back(body[at]);
    depends_[body[at]] = true;
    if (!checked) continue;
    ++fused;
    end = at + 1;
    dependents = run.dependents.size();
  }
  for (const uint32_t inst : run.dependents) depends_[inst] = false;
  if (fused < 2) return {};
  run.all = body.first(end);
  run.dependents.resize(dependents);
  return run;
}

}  // namespace orrery::shader::spirv
