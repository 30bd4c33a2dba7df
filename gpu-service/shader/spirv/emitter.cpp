#include "gpu-service/shader/spirv/emitter.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "gpu-service/shader/spirv/fused_run.hpp"
#include "gpu-service/shader/spirv/image_library.hpp"

namespace orrery::shader::spirv {

using ir::Op;

Emitter::Emitter(const ir::Function& function, const TranslateOptions& options)
    : f_(function),
      o_(options),
      k_(options.layout.k),
      subgroup_(options.layout.invocations()),
      exchange_(options.layout.whole_wave() ? LaneExchange::none : options.layout.exchange) {
  module_.keep(o_.host.keeps_denormals_of, o_.host.keeps_special_of);
  threads_ = group_shape(o_).threads();
  waves_ = std::max(1u, (threads_ + o_.layout.wave - 1) / o_.layout.wave);
  lds_dwords_ = ((o_.rsrc2 >> 15) & 511) * 128;
  start_.assign(f_.insts.size(), ~0u);
  ids_.reserve(f_.insts.size() * (k_ + 1));
  main_.reserve(f_.insts.size() * 6 * (k_ > 1 ? k_ * 3 / 4 + 1 : 1) + 256);
  for (const ir::Access& a : f_.accesses) {
    fresh_loads_ |= a.coherent && (a.space == ir::Space::guest || a.space == ir::Space::image);
  }
  if (o_.host.lockstep_subgroups) find_zeros_to_hide();
  if (o_.host.fuses_fma && !o_.host.fma_keeps_denormals) fused_runs_ = std::make_unique<FusedRuns>(f_, k_);
  buffer_variables_.resize(f_.bindings.size());
  for (const auto& source : f_.bindings) bound_.push_back({.source = source});
}

Emitter::~Emitter() = default;

uint32_t Emitter::components(const ir::Inst& inst) const {
  return inst.op == Op::load ? f_.accesses[inst.imm].components : 1;
}

Id Emitter::id(ir::Value v, uint32_t slot) {
  const ir::Inst& inst = f_.insts[v.id];
  if (lane_loop_.active && inst.per_lane) {
    for (const auto& [value, now] : lane_loop_.values)
      if (value == v.id) return now;
  }
  if (inst.op == Op::constant) {
    if (start_[v.id] == ~0u) {
      start_[v.id] = static_cast<uint32_t>(ids_.size());
      ids_.push_back(module_.constant(inst.type, f_.constant_bits(inst)));
    }
    return ids_[start_[v.id]];
  }
  if (inst.op == Op::undefined) return module_.null(module_.type(inst.type));
  const uint32_t count = slots(inst);
  if (start_[v.id] == ~0u) {
    start_[v.id] = static_cast<uint32_t>(ids_.size());
    ids_.resize(ids_.size() + count * components(inst), 0);
  }
  Id& result = ids_[start_[v.id] + (count == 1 ? 0 : slot) * components(inst)];
  if (!result) result = module_.new_id();  // used by a phi in front of its definition
  return result;
}

Id Emitter::define(uint32_t inst, uint32_t slot, uint32_t component) {
  id({inst}, slot);
  Id& result = ids_[start_[inst] + slot * components(f_.insts[inst]) + component];
  if (!result) result = module_.new_id();
  return result;
}

void Emitter::alias(uint32_t inst, uint32_t slot, Id to) {
  if (start_[inst] == ~0u) {
    start_[inst] = static_cast<uint32_t>(ids_.size());
    ids_.resize(ids_.size() + slots(f_.insts[inst]) * components(f_.insts[inst]), 0);
  }
  Id& known = ids_[start_[inst] + slot];
  if (known) {
    code(spv::OpCopyObject, {module_.type(f_.insts[inst].type), known, to});
  } else {
    known = to;
  }
}

Id Emitter::value(spv::Op op, Id type, std::initializer_list<uint32_t> operands) {
  const Id result = module_.new_id();
  put(*code_, op, {type, result}, {operands.begin(), operands.size()});
  return result;
}

Id Emitter::extended(uint32_t instruction, Id type, std::initializer_list<uint32_t> operands) {
  const Id result = module_.new_id();
  put(*code_, spv::OpExtInst, {type, result, module_.glsl(), instruction}, {operands.begin(), operands.size()});
  return result;
}

void Emitter::label(Id id) {
  code(spv::OpLabel, {id});
  current_label_ = id;
}

void Emitter::refuse(uint32_t offset, std::string reason) {
  refusals_.push_back({offset, "program", std::move(reason)});
}

void Emitter::emit_inst(uint32_t inst) {
  const ir::Inst& i = f_.insts[inst];
  if (emit_arithmetic(inst, i) || emit_float(inst, i) || emit_lanes(inst, i) || emit_place(inst, i) ||
      emit_memory(inst, i) || emit_guard(inst, i))
    return;
  refuse(0, fmt::format("the operation {} is not written out yet", ir::name_of(i.op)));
}

std::expected<shader::Module, std::vector<ShaderRefusal>> Emitter::emit() {
  needs_ = needs_of(f_);
  lds_home_ = lds_home(o_.layout, needs_, group_shape(o_), host_lanes(o_.host));
  std::string reason = pixel() ? why_no_pixel() : why_not(o_.layout, needs_, group_shape(o_), host_lanes(o_.host));
  if (!reason.empty()) {
    refuse(0, std::move(reason));
  }
  if (!refusals_.empty()) return std::unexpected(std::move(refusals_));

  const auto count = static_cast<uint32_t>(f_.blocks.size());
  block_label_.resize(count);
  exit_label_.resize(count);
  for (auto& l : block_label_) l = module_.new_id();
  const Id main = module_.new_id();
  emit_blocks();
  for (const Later& l : later_) main_[l.at] = exit_label_[l.block];
  if (!refusals_.empty()) return std::unexpected(std::move(refusals_));

  Words functions;
  functions.reserve(main_.size() + prelude_.size() + routines_.size() + 64);
  functions = std::move(routines_);
  const Id nothing = module_.void_type();
  put(functions, spv::OpFunction, {nothing, main, 0, module_.function_type(nothing, {})});
  put(functions, spv::OpLabel, {module_.new_id()});
  functions.insert(functions.end(), variables_.begin(), variables_.end());
  for (const Id array : private_arrays_) {
    put(functions, spv::OpVariable, {private_type_, array, static_cast<uint32_t>(spv::StorageClassFunction)});
  }
  if (loop_rounds_) put(functions, spv::OpStore, {loop_rounds_, u32(0)});
  if (escape_notes_[0]) put(functions, spv::OpStore, {escape_notes_[0], u32(0)});
  clear_outputs(functions);
  functions.insert(functions.end(), prelude_.begin(), prelude_.end());
  put(functions, spv::OpBranch, {block_label_[0]});
  functions.insert(functions.end(), main_.begin(), main_.end());
  put(functions, spv::OpFunctionEnd, {});

  shader::Module out;
  out.layout = o_.layout;
  out.local_size = {waves_ * subgroup_, 1, 1};
  if (pixel()) module_.make_fragment();
  out.spirv = module_.assemble(main, out.local_size, functions);
  out.buffers = bound_;
  out.uses_page_table = uses_page_table_;
  out.group_memory = group_memory_bytes();
  out.lds_in_memory = lds_in_memory();
  out.workgroup_bytes = (workgroup_[0] || workgroup_[1] ? lds_dwords_ * 4 : 0) + exchange_bytes(o_.layout, needs_);
  out.needs = needs_;
  return out;
}

}  // namespace orrery::shader::spirv
