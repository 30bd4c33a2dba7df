#include "tests/gpu-service/shader/cfg/walk.hpp"

#include <algorithm>
#include <map>

namespace orrery::shader::cfg::test {
namespace {

class Decisions {
 public:
  explicit Decisions(uint32_t seed) : seed_(seed) {}
  bool operator()(uint32_t branch) {
    uint64_t bits = (uint64_t{seed_} << 40) ^ (uint64_t{branch} << 16) ^ passed_[branch]++;
    bits = (bits ^ (bits >> 31)) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9u;
    return (bits >> 40 & 1) != 0;
  }

 private:
  uint32_t seed_;
  std::map<uint32_t, uint32_t> passed_;
};

bool conditional(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_cbranch_scc0:
    case Opcode::s_cbranch_scc1:
    case Opcode::s_cbranch_vccz:
    case Opcode::s_cbranch_vccnz:
    case Opcode::s_cbranch_execz:
    case Opcode::s_cbranch_execnz:
      return true;
    default:
      return false;
  }
}

}  // namespace

Walk walk_program(const Program& program, uint32_t seed, uint32_t limit) {
  Walk walk;
  Decisions decide(seed);
  const auto& all = program.instructions;
  uint32_t at = 0, link = 0;
  for (uint32_t step = 0; step < limit; ++step) {
    const Instruction& here = all[at];
    auto jump = [&](bool taken) {
      if (!taken) return at + 1;
      const auto offset = static_cast<uint32_t>(static_cast<int32_t>(here.offset) + 4 + here.immediate * 4);
      return static_cast<uint32_t>(std::ranges::lower_bound(all, offset, {}, &Instruction::offset) - all.begin());
    };
    if (here.opcode == Opcode::s_endpgm) {
      walk.ended = true;
      return walk;
    }
    if (here.opcode == Opcode::s_call_b64) {
      walk.instructions.push_back(at);
      link = at + 1;
      at = jump(true);
    } else if (here.opcode == Opcode::s_setpc_b64) {
      at = link;
    } else if (here.opcode == Opcode::s_branch) {
      at = jump(true);
    } else if (conditional(here.opcode)) {
      if (here.immediate == 0) {
        ++at;
        continue;
      }
      const bool taken = decide(at);
      walk.decisions.push_back(at * 2 + taken);
      at = jump(taken);
    } else {
      walk.instructions.push_back(at++);
    }
  }
  return walk;
}

Walk walk_graph(const StructuredGraph& graph, const Program& program, uint32_t seed, uint32_t limit) {
  Walk walk;
  Decisions decide(seed);
  std::map<uint32_t, uint32_t> routes;
  uint32_t at = 0;
  // Structured blocks without instructions cost steps too.
  for (uint32_t step = 0; step < limit * 16 + 64; ++step) {
    const StructuredBlock& block = graph.blocks[at];
    for (uint32_t i = 0; i < block.count; ++i) walk.instructions.push_back(block.first + i);
    for (const RouteAssignment& a : block.assignments) routes[a.route] = a.value;
    switch (block.terminator) {
      case TerminatorKind::end:
        walk.ended = true;
        return walk;
      case TerminatorKind::jump:
        at = block.targets[0];
        break;
      case TerminatorKind::branch: {
        const uint32_t branch = block.first + block.count;
        const bool taken = decide(branch);
        const Opcode opcode = program.instructions[branch].opcode;
        const Condition wanted = opcode == Opcode::s_cbranch_scc0    ? Condition::scc0
                                 : opcode == Opcode::s_cbranch_scc1  ? Condition::scc1
                                 : opcode == Opcode::s_cbranch_vccz  ? Condition::vccz
                                 : opcode == Opcode::s_cbranch_vccnz ? Condition::vccnz
                                 : opcode == Opcode::s_cbranch_execz ? Condition::execz
                                                                     : Condition::execnz;
        if (block.condition != wanted) walk.error = "condition of branch " + std::to_string(branch);
        walk.decisions.push_back(branch * 2 + taken);
        at = block.targets[taken ? 0 : 1];
        break;
      }
      case TerminatorKind::route: {
        auto value = routes.find(block.route);
        if (value == routes.end()) {
          walk.error = "route read before it was assigned, block " + std::to_string(at);
          return walk;
        }
        const auto found = std::ranges::find(block.values, value->second);
        at = block.targets[static_cast<size_t>(found - block.values.begin())];
        break;
      }
    }
    if (walk.instructions.size() >= limit) break;
  }
  return walk;
}

}  // namespace orrery::shader::cfg::test
