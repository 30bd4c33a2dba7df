#include "gpu-service/shader/cfg/guest_graph.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace orrery::shader::cfg {
namespace {

constexpr uint32_t kNone = ~0u;

std::optional<Condition> branch_condition(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_cbranch_scc0:
      return Condition::scc0;
    case Opcode::s_cbranch_scc1:
      return Condition::scc1;
    case Opcode::s_cbranch_vccz:
      return Condition::vccz;
    case Opcode::s_cbranch_vccnz:
      return Condition::vccnz;
    case Opcode::s_cbranch_execz:
      return Condition::execz;
    case Opcode::s_cbranch_execnz:
      return Condition::execnz;
    default:
      return std::nullopt;
  }
}

bool ends_wave(Opcode opcode) { return opcode == Opcode::s_endpgm || opcode == Opcode::s_endpgm_saved; }

// Why an instruction that changes the program counter cannot be followed; nullptr: it can, or it does not.
const char* unknown_flow(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_setpc_b64:
    case Opcode::s_swappc_b64:
    case Opcode::s_call_b64:
      return "computed jump whose targets are not known";
    case Opcode::s_cbranch_cdbgsys:
    case Opcode::s_cbranch_cdbgsys_and_user:
    case Opcode::s_cbranch_cdbgsys_or_user:
    case Opcode::s_cbranch_cdbguser:
      return "branch on the debugger's state";
    case Opcode::s_subvector_loop_begin:
    case Opcode::s_subvector_loop_end:
      return "subvector loop";
    case Opcode::s_endpgm_ordered_ps_done:
      return "end of an ordered pixel wave";
    default:
      return nullptr;
  }
}

class Blocks {
 public:
  explicit Blocks(const Program& program) : instructions_(program.instructions) {}

  std::expected<GuestGraph, std::vector<ShaderRefusal>> build() {
    if (instructions_.empty()) {
      refusals_.push_back({0, "program", "holds no instruction"});
      return std::unexpected(std::move(refusals_));
    }
    find_leaders();
    if (refusals_.empty()) cut_blocks();
    if (!refusals_.empty()) return std::unexpected(std::move(refusals_));
    return keep_reachable();
  }

 private:
  void refuse(const Instruction& at, std::string reason) {
    refusals_.push_back({at.offset, std::string(mnemonic(at.opcode)), std::move(reason)});
  }

  uint32_t at_offset(int64_t offset) const {
    auto found =
        std::ranges::lower_bound(instructions_, offset, {}, [](const Instruction& i) { return int64_t{i.offset}; });
    if (found == instructions_.end() || found->offset != offset) return kNone;
    return static_cast<uint32_t>(found - instructions_.begin());
  }

  uint32_t branch_target(const Instruction& branch) {
    const int64_t offset = int64_t{branch.offset} + branch.size + int64_t{branch.immediate} * 4;
    const uint32_t index = at_offset(offset);
    if (index == kNone) {
      const int64_t end = int64_t{instructions_.back().offset} + instructions_.back().size;
      refuse(branch,
             offset < 0 || offset >= end ? "branch out of the program" : "branch into the middle of an instruction");
    }
    return index;
  }

  uint32_t behind(uint32_t index) {
    const Instruction& here = instructions_[index];
    if (index + 1 < instructions_.size() && instructions_[index + 1].offset == here.offset + here.size)
      return index + 1;
    refuse(here, "the program runs off its end");
    return kNone;
  }

  void find_leaders() {
    const auto count = static_cast<uint32_t>(instructions_.size());
    leader_.assign(count + 1, false);
    targets_.assign(count, kNone);
    leader_[0] = true;
    for (uint32_t i = 0; i < count; ++i) {
      const Instruction& here = instructions_[i];
      if (const char* reason = unknown_flow(here.opcode)) refuse(here, reason);
      const bool conditional = branch_condition(here.opcode).has_value();
      if (conditional || here.opcode == Opcode::s_branch) {
        targets_[i] = branch_target(here);
        if (targets_[i] != kNone) leader_[targets_[i]] = true;
        leader_[i + 1] = true;
      } else if (ends_wave(here.opcode)) {
        leader_[i + 1] = true;
      }
    }
  }

  void cut_blocks() {
    const auto count = static_cast<uint32_t>(instructions_.size());
    block_of_.assign(count, kNone);
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < count; ++i) {
      if (leader_[i]) ++blocks;
      block_of_[i] = blocks - 1;
    }
    if (blocks > kMaxBlocks) {
      refusals_.push_back({0, "program", "more than " + std::to_string(kMaxBlocks) + " basic blocks"});
      return;
    }
    graph_.blocks.reserve(blocks);
    for (uint32_t i = 0; i < count;) {
      const uint32_t first = i++;
      while (i < count && !leader_[i]) ++i;
      cut_block(first, i - 1);
    }
  }

  void cut_block(uint32_t first, uint32_t last) {
    GuestBlock block{.first = first, .count = last - first};
    const Instruction& end = instructions_[last];
    auto edge_to = [&](uint32_t index) {
      if (index != kNone) block.edges.push_back({block_of_[index], {}, false});
    };
    if (ends_wave(end.opcode)) {
      block.terminator = TerminatorKind::end;
    } else if (auto condition = branch_condition(end.opcode)) {
      const uint32_t next = behind(last);
      block.terminator = targets_[last] == next ? TerminatorKind::jump : TerminatorKind::branch;
      block.condition = *condition;
      edge_to(targets_[last]);
      if (block.terminator == TerminatorKind::branch) edge_to(next);
    } else {
      block.terminator = TerminatorKind::jump;
      const bool branches = end.opcode == Opcode::s_branch;
      if (!branches) ++block.count;
      edge_to(branches ? targets_[last] : behind(last));
    }
    graph_.blocks.push_back(std::move(block));
  }

  GuestGraph keep_reachable() {
    std::vector<uint32_t> place(graph_.blocks.size(), kNone), todo{0};
    place[0] = 0;
    while (!todo.empty()) {
      const uint32_t from = todo.back();
      todo.pop_back();
      for (const Edge& edge : graph_.blocks[from].edges) {
        if (place[edge.target] != kNone) continue;
        place[edge.target] = 0;
        todo.push_back(edge.target);
      }
    }
    GuestGraph kept;
    for (uint32_t i = 0; i < place.size(); ++i) {
      if (place[i] == kNone) continue;
      place[i] = static_cast<uint32_t>(kept.blocks.size());
      kept.blocks.push_back(std::move(graph_.blocks[i]));
    }
    for (GuestBlock& block : kept.blocks) {
      for (Edge& edge : block.edges) edge.target = place[edge.target];
    }
    return kept;
  }

  const std::vector<Instruction>& instructions_;
  std::vector<bool> leader_;
  std::vector<uint32_t> targets_, block_of_;
  std::vector<ShaderRefusal> refusals_;
  GuestGraph graph_;
};

}  // namespace

std::expected<GuestGraph, std::vector<ShaderRefusal>> guest_graph(const Program& program) {
  return Blocks(program).build();
}

}  // namespace orrery::shader::cfg
