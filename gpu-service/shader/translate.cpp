// Program to module: structure, semantics into IR, passes, SPIR-V.
#include "gpu-service/shader/translate.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <optional>

#include "gpu-service/shader/cfg/structured_graph.hpp"
#include "gpu-service/shader/ir/construct.hpp"
#include "gpu-service/shader/passes/passes.hpp"
#include "gpu-service/shader/semantics/mode_flow.hpp"
#include "gpu-service/shader/semantics/table.hpp"
#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader {
namespace {

// One line per mnemonic and reason, at its first place.
void report(std::vector<ShaderRefusal>& refusals, const Instruction& instruction, std::string reason) {
  const std::string_view name = mnemonic(instruction.opcode);
  for (const ShaderRefusal& r : refusals)
    if (r.mnemonic == name && r.reason == reason) return;
  refusals.push_back({instruction.offset, std::string(name), std::move(reason)});
}

bool has_no_meaning(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_nop:
    case Opcode::s_clause:
    case Opcode::s_inst_prefetch:
    case Opcode::s_sleep:
    case Opcode::s_setprio:
    case Opcode::s_code_end:
    case Opcode::s_ttracedata:
    case Opcode::s_ttracedata_imm:
    case Opcode::s_waitcnt_depctr:
    case Opcode::s_endpgm:
      return true;
    default:
      return false;
  }
}

// Offset of an instruction from which no path leads to the program's end. On hardware its wave would never end; a
// driver that cuts loops off would go on behind it as if the work were done.
std::optional<uint32_t> never_left(const cfg::StructuredGraph& graph, const Program& program) {
  const size_t count = graph.blocks.size();
  std::vector<std::vector<uint32_t>> before(count);
  std::vector<bool> entered(count), ends(count);
  std::vector<uint32_t> open{0};
  entered[0] = true;
  while (!open.empty()) {
    const uint32_t block = open.back();
    open.pop_back();
    if (graph.blocks[block].terminator == cfg::TerminatorKind::end) continue;
    for (const uint32_t target : graph.blocks[block].targets) {
      before[target].push_back(block);
      if (entered[target]) continue;
      entered[target] = true;
      open.push_back(target);
    }
  }
  for (uint32_t n = 0; n < count; ++n) {
    if (entered[n] && graph.blocks[n].terminator == cfg::TerminatorKind::end) {
      ends[n] = true;
      open.push_back(n);
    }
  }
  while (!open.empty()) {
    const uint32_t block = open.back();
    open.pop_back();
    for (const uint32_t source : before[block]) {
      if (ends[source]) continue;
      ends[source] = true;
      open.push_back(source);
    }
  }
  for (uint32_t n = 0; n < count; ++n) {
    if (!entered[n] || ends[n]) continue;
    const uint32_t first = graph.blocks[n].first;
    return first < program.instructions.size() ? program.instructions[first].offset : 0;
  }
  return std::nullopt;
}

struct Built {
  cfg::StructuredGraph graph;
  ir::Function function;
};

// The program as IR, before the passes; it does not depend on how many lanes an invocation holds.
std::expected<std::unique_ptr<Built>, std::vector<ShaderRefusal>> build(const Program& program,
                                                                        const TranslateOptions& options) {
  auto structured = cfg::structure(program);
  if (!structured) return std::unexpected(std::move(structured.error()));
  auto built = std::make_unique<Built>();
  built->graph = std::move(*structured);
  const cfg::StructuredGraph* const graph = &built->graph;
  if (const auto offset = never_left(*graph, program)) {
    return std::unexpected(
        std::vector{ShaderRefusal{*offset, "program", "never ends: no path leads out of this loop"}});
  }
  std::vector<ShaderRefusal> refusals;
  const ir::SemanticTable& table = semantics::semantic_table();
  ir::Function& function = built->function;
  function.graph = graph;
  semantics::ModeFlow modes(program, *graph, options.rsrc1);
  const bool whole = ir::construct(function, program, options, [&](ir::Builder& builder, uint32_t n) {
    if (n == 0) refusals.clear();
    const cfg::StructuredBlock& block = graph->blocks[n];
    modes.enter(n);
    for (uint32_t i = block.first; i < block.first + block.count; ++i) {
      const Instruction& instruction = program.instructions[i];
      if (has_no_meaning(instruction.opcode)) continue;
      const ir::Semantic semantic = table[static_cast<size_t>(instruction.opcode)];
      if (!semantic) {
        report(refusals, instruction, "no semantics");
        continue;
      }
      if (auto reason = modes.refusal(instruction)) report(refusals, instruction, std::move(*reason));
      builder.set_mode(modes.mode());
      if (ir::Outcome outcome = semantic(builder, instruction); !outcome) {
        report(refusals, instruction, std::move(outcome.error()));
      }
      if (std::string reason = builder.take_refusal(); !reason.empty()) {
        report(refusals, instruction, std::move(reason));
      }
      modes.pass(instruction);
    }
    return refusals.empty();
  });
  if (!whole) return std::unexpected(std::move(refusals));
  return built;
}

// What traced images are used for, and stores and atomics that neither they nor bindings hold.
void note_accesses(const ir::Function& function, Module& module) {
  for (const ImageSource& source : function.images) module.images.push_back({.source = source});
  module.samplers = function.samplers;
  module.reaches_images_only = !module.images.empty();
  for (const ir::Block& block : function.blocks) {
    for (const uint32_t id : block.body) {
      const ir::Inst& inst = function.insts[id];
      if (inst.op != ir::Op::load && inst.op != ir::Op::store && inst.op != ir::Op::atomic) continue;
      const ir::Access& access = function.accesses[inst.imm];
      if (access.space != ir::Space::guest && access.space != ir::Space::image) {
        continue;
      }
      // An atomic on an image is one on guest memory, behind the access that finds its place.
      if (access.binding != 0) {
        TracedImage& image = module.images[access.binding - 1];
        image.read |= inst.op != ir::Op::store && access.image != ir::ImageWork::info;
        image.written |= inst.op != ir::Op::load;
        continue;
      }
      module.reaches_images_only = false;
      if (inst.op == ir::Op::load) continue;
      if (module.writes_anywhere && module.write_instruction <= access.instruction) continue;
      module.writes_anywhere = true;
      module.write_instruction = access.instruction;
      const auto known = std::ranges::find(function.computed, access.instruction, &ir::Function::Computed::instruction);
      module.write_reason = known != function.computed.end() ? known->why : TraceEnd::lanes;
    }
  }
}

}  // namespace

GroupShape group_shape(const TranslateOptions& options) {
  return {options.group_size, options.partial_groups, ((options.rsrc2 >> 15) & 511) * 512};
}

HostLanes host_lanes(const HostFeatures& host) {
  return {host.min_subgroup,         host.max_subgroup,         true,
          host.max_invocations,      host.max_subgroups,        host.workgroup_memory,
          host.shared_int64_atomics, host.buffer_int64_atomics, host.workgroup_views};
}

std::expected<Analysis, std::vector<ShaderRefusal>> analyse(const Program& program, const TranslateOptions& options) {
  auto built = build(program, options);
  if (!built) return std::unexpected(std::move(built.error()));
  passes::run((*built)->function, {.fence = true});
  return Analysis{needs_of((*built)->function), static_cast<uint32_t>(program.instructions.size()),
                  (*built)->graph.dispatcher};
}

std::expected<Module, std::vector<ShaderRefusal>> translate(const Program& program, const TranslateOptions& options) {
  auto built = build(program, options);
  if (!built) return std::unexpected(std::move(built.error()));
  passes::run((*built)->function, passes::wishes(options.layout, options.host), &(*built)->graph);
  auto module = spirv::Emitter((*built)->function, options).emit();
  if (module) {
    module->guest_instructions = static_cast<uint32_t>(program.instructions.size());
    module->dispatcher_loop = (*built)->graph.dispatcher;
    note_accesses((*built)->function, *module);
  }
  return module;
}

uint64_t translator_version() { return 5; }

}  // namespace orrery::shader
