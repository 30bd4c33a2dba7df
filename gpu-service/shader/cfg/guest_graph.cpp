#include "gpu-service/shader/cfg/guest_graph.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "gpu-service/shader/cfg/computed_jump.hpp"

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

bool is_computed(Opcode opcode) {
  return opcode == Opcode::s_setpc_b64 || opcode == Opcode::s_swappc_b64 || opcode == Opcode::s_call_b64;
}

bool ends_wave(Opcode opcode) { return opcode == Opcode::s_endpgm || opcode == Opcode::s_endpgm_saved; }

// Why an instruction that changes the program counter cannot be followed; nullptr: it can, or it does not.
const char* unknown_flow(Opcode opcode) {
  switch (opcode) {
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
    if (refusals_.empty()) connect_returns();
    if (!refusals_.empty()) return std::unexpected(std::move(refusals_));
    return keep_reachable();
  }

 private:
  struct Call {
    uint32_t block, entry, next;  // blocks: the calling one, the function's first, the one behind the call
    uint32_t link;                // SGPR pair that gets the return address
  };
  struct Return {
    uint32_t block, instruction;
  };
  static constexpr size_t kMaxFunctionWork = 1u << 22;  // functions times blocks

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

  void refuse_computed(const Instruction& jump) { refuse(jump, "computed jump whose targets are not known"); }

  // A jump through registers: to a place that the code in front names, or a return (connect_returns() decides).
  void find_computed_target(uint32_t i) {
    const Instruction& here = instructions_[i];
    const bool call = here.opcode != Opcode::s_setpc_b64;
    leader_[i + 1] = true;
    if (here.opcode == Opcode::s_call_b64) {
      targets_[i] = branch_target(here);
    } else if (const auto traced = trace_jump({instructions_.data(), i + 1})) {
      targets_[i] = at_offset(traced->target);
      traced_.push_back({traced->start, i});
      if (targets_[i] == kNone) refuse(here, "jump to what is no instruction of the program");
    } else if (call) {
      refuse_computed(here);
    }
    if (targets_[i] != kNone) leader_[targets_[i]] = true;
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
      } else if (is_computed(here.opcode)) {
        find_computed_target(i);
      }
    }
    for (auto [start, jump] : traced_) {
      for (uint32_t i = start + 1; i <= jump; ++i) {
        if (!leader_[i]) continue;
        refuse_computed(instructions_[jump]);
        break;
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
    const auto number = static_cast<uint32_t>(graph_.blocks.size());
    auto edge_to = [&](uint32_t index) {
      if (index != kNone) block.edges.push_back({block_of_[index], {}, false});
    };
    if (ends_wave(end.opcode)) {
      block.terminator = TerminatorKind::end;
    } else if (end.opcode == Opcode::s_setpc_b64) {
      block.terminator = TerminatorKind::jump;
      edge_to(targets_[last]);
      if (targets_[last] == kNone) returns_.push_back({number, last});
    } else if (is_computed(end.opcode)) {
      // The call itself writes the return address, so it is one of the block's instructions.
      block.terminator = TerminatorKind::jump;
      ++block.count;
      edge_to(targets_[last]);
      const uint32_t next = behind(last);
      if (next != kNone) calls_.push_back({number, block_of_[targets_[last]], block_of_[next], end.destination.index});
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

  // Blocks of one function: what its entry leads to, calls passed over.
  std::vector<bool> function_blocks(uint32_t entry) const {
    std::vector<bool> inside(graph_.blocks.size(), false);
    std::vector<uint32_t> todo{entry};
    inside[entry] = true;
    auto visit = [&](uint32_t block) {
      if (inside[block]) return;
      inside[block] = true;
      todo.push_back(block);
    };
    while (!todo.empty()) {
      const uint32_t from = todo.back();
      todo.pop_back();
      if (const auto call = call_at_.find(from); call != call_at_.end()) {
        visit(calls_[call->second].next);
      } else {
        for (const Edge& edge : graph_.blocks[from].edges) visit(edge.target);
      }
    }
    return inside;
  }

  // The jump is a return of the function: it goes to the address that every call left in the link register, which
  // nothing in the function writes.
  bool is_return(const Return& jump, const std::vector<bool>& inside, uint32_t link) const {
    if (instructions_[jump.instruction].sources[0].kind != OperandKind::sgpr) return false;
    if (instructions_[jump.instruction].sources[0].index != link) return false;
    for (uint32_t b = 0; b < inside.size(); ++b) {
      if (!inside[b]) continue;
      const GuestBlock& block = graph_.blocks[b];
      for (uint32_t i = block.first; i < block.first + block.count; ++i) {
        if (writes_pair(instructions_[i], link)) return false;
      }
    }
    return true;
  }

  // A function is there once, however often it is called; a routing variable remembers where it goes back to.
  void connect_returns() {
    if (returns_.empty()) return;
    for (uint32_t c = 0; c < calls_.size(); ++c) call_at_[calls_[c].block] = c;
    std::map<uint32_t, std::vector<uint32_t>> functions;  // entry block -> calls
    for (uint32_t c = 0; c < calls_.size(); ++c) functions[calls_[c].entry].push_back(c);
    if (functions.size() * graph_.blocks.size() > kMaxFunctionWork) {
      refusals_.push_back({0, "program", "too many functions"});
      return;
    }
    std::vector<uint32_t> owners(returns_.size(), 0);
    const std::vector<bool> outside = function_blocks(0);
    for (const auto& [entry, calls] : functions) {
      const std::vector<bool> inside = function_blocks(entry);
      const uint32_t link = calls_[calls[0]].link;
      const bool same_link = std::ranges::all_of(calls, [&](uint32_t c) { return calls_[c].link == link; });
      uint32_t route = 0;
      for (size_t r = 0; r < returns_.size(); ++r) {
        if (!inside[returns_[r].block] || outside[returns_[r].block] || !same_link) continue;
        if (!is_return(returns_[r], inside, link)) continue;
        ++owners[r];
        GuestBlock& block = graph_.blocks[returns_[r].block];
        for (uint32_t c : calls) block.edges.push_back({calls_[c].next, {}, false});
        if (calls.size() == 1) continue;
        if (route == 0) route = ++graph_.routes;
        block.terminator = TerminatorKind::route;
        block.route = route;
      }
      if (route == 0) continue;
      for (uint32_t n = 0; n < calls.size(); ++n) {
        graph_.blocks[calls_[calls[n]].block].edges[0].assignments.push_back({route, n});
      }
    }
    for (size_t r = 0; r < returns_.size(); ++r) {
      if (owners[r] != 1) refuse_computed(instructions_[returns_[r].instruction]);
    }
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
    kept.routes = graph_.routes;
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
  std::vector<std::pair<uint32_t, uint32_t>> traced_;  // s_getpc_b64, jump
  std::vector<Call> calls_;
  std::vector<Return> returns_;
  std::map<uint32_t, uint32_t> call_at_;  // block -> call
  std::vector<ShaderRefusal> refusals_;
  GuestGraph graph_;
};

}  // namespace

std::expected<GuestGraph, std::vector<ShaderRefusal>> guest_graph(const Program& program) {
  return Blocks(program).build();
}

}  // namespace orrery::shader::cfg
