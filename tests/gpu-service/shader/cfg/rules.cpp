#include "tests/gpu-service/shader/cfg/rules.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace orrery::shader::cfg::test {
namespace {

using Set = std::vector<bool>;

class Rules {
 public:
  explicit Rules(const StructuredGraph& graph) : graph_(graph), count_(graph.blocks.size()) {}

  std::string check() {
    shapes();
    if (!broken_.empty()) return broken_;
    find_dominators();
    declarations();
    back_edges();
    constructs();
    return broken_;
  }

 private:
  void fail(size_t block, const std::string& rule) {
    if (broken_.empty()) broken_ = "block " + std::to_string(block) + ": " + rule;
  }

  void shapes() {
    for (size_t b = 0; b < count_; ++b) {
      const StructuredBlock& block = graph_.blocks[b];
      size_t wanted = 0;
      switch (block.terminator) {
        case TerminatorKind::jump:
          wanted = 1;
          break;
        case TerminatorKind::branch:
          wanted = 2;
          break;
        case TerminatorKind::route:
          wanted = block.values.size() + 1;
          break;
        case TerminatorKind::end:
          break;
      }
      if (block.targets.size() != wanted) fail(b, "number of targets");
      for (uint32_t t : block.targets) {
        if (t >= count_) return fail(b, "target does not exist");
        if (t == 0) fail(b, "the entry is a branch's target");
      }
      if (std::set<uint32_t>(block.values.begin(), block.values.end()).size() != block.values.size()) {
        fail(b, "route values repeat");
      }
      if (block.terminator == TerminatorKind::branch && block.targets[0] == block.targets[1]) fail(b, "equal targets");
      if (block.terminator == TerminatorKind::route && block.route >= graph_.routes) fail(b, "no such route");
      for (const RouteAssignment& a : block.assignments) {
        if (a.route >= graph_.routes) fail(b, "no such route assigned");
      }
      if ((block.merge == MergeKind::none) != (block.merge_block == kNoBlock)) fail(b, "merge block and kind");
      if ((block.merge == MergeKind::loop) == (block.continue_block == kNoBlock)) fail(b, "continue block");
      if (block.merge_block != kNoBlock && block.merge_block >= count_) return fail(b, "merge does not exist");
      if (block.continue_block != kNoBlock && block.continue_block >= count_) return fail(b, "continue does not exist");
      if (block.merge == MergeKind::selection && block.targets.size() < 2) fail(b, "selection without choice");
    }
  }

  // Successors of the structured graph: merges and continue targets count as reached from their header.
  std::vector<uint32_t> successors(size_t b) const {
    std::vector<uint32_t> result = graph_.blocks[b].targets;
    if (graph_.blocks[b].merge_block != kNoBlock) result.push_back(graph_.blocks[b].merge_block);
    if (graph_.blocks[b].continue_block != kNoBlock) result.push_back(graph_.blocks[b].continue_block);
    return result;
  }

  Set reachable(size_t without) const {
    Set seen(count_, false);
    if (without == 0) return seen;
    std::vector<size_t> todo{0};
    seen[0] = true;
    while (!todo.empty()) {
      const size_t b = todo.back();
      todo.pop_back();
      for (uint32_t t : successors(b)) {
        if (t == without || seen[t]) continue;
        seen[t] = true;
        todo.push_back(t);
      }
    }
    return seen;
  }

  // dominated_[b][x]: every way from the entry to x leads through b.
  void find_dominators() {
    reachable_ = reachable(count_);
    for (size_t b = 0; b < count_; ++b) {
      if (!reachable_[b]) fail(b, "structurally unreachable");
      Set without = reachable(b);
      without.flip();
      dominated_.push_back(std::move(without));
    }
    for (size_t b = 0; b < count_; ++b) {
      for (size_t x = 0; x < b; ++x) {
        if (dominated_[b][x]) fail(x, "stands in front of its dominator " + std::to_string(b));
      }
    }
  }

  void declarations() {
    std::set<uint32_t> merges, continues;
    for (size_t b = 0; b < count_; ++b) {
      const StructuredBlock& block = graph_.blocks[b];
      if (block.merge != MergeKind::none) {
        if (!merges.insert(block.merge_block).second) fail(b, "shares its merge block");
        if (!dominated_[b][block.merge_block] || block.merge_block == b) fail(b, "does not dominate its merge");
      }
      if (block.merge == MergeKind::loop) {
        if (!continues.insert(block.continue_block).second) fail(b, "shares its continue block");
        if (!dominated_[b][block.continue_block]) fail(b, "does not dominate its continue block");
      }
    }
    for (uint32_t c : continues) {
      if (merges.contains(c)) fail(c, "is a merge and a continue block");
    }
  }

  void back_edges() {
    std::vector<uint32_t> backs(count_, 0);
    for (size_t b = 0; b < count_; ++b) {
      for (uint32_t t : graph_.blocks[b].targets) {
        if (t > b && !dominated_[t][b]) continue;
        ++backs[t];
        if (graph_.blocks[t].merge != MergeKind::loop) {
          fail(b, "branches back to what is no loop's header");
        } else if (!dominated_[graph_.blocks[t].continue_block][b]) {
          fail(b, "branches back from outside of the continue construct");
        }
      }
    }
    for (size_t b = 0; b < count_; ++b) {
      if (graph_.blocks[b].merge == MergeKind::loop && backs[b] != 1) fail(b, "back edges of the header");
    }
  }

  Set construct(size_t header) const {
    const StructuredBlock& block = graph_.blocks[header];
    Set inside(count_, false);
    for (size_t x = 0; x < count_; ++x) inside[x] = dominated_[header][x] && !dominated_[block.merge_block][x];
    return inside;
  }

  void constructs() {
    std::vector<size_t> size(count_, count_ + 1), innermost(count_, count_);
    std::vector<Set> sets(count_);
    for (size_t b = 0; b < count_; ++b) {
      if (graph_.blocks[b].merge == MergeKind::none) continue;
      sets[b] = construct(b);
      if (graph_.blocks[b].merge != MergeKind::loop) continue;
      const auto blocks = static_cast<size_t>(std::ranges::count(sets[b], true));
      for (size_t x = 0; x < count_; ++x) {
        if (sets[b][x] && blocks < size[x]) {
          size[x] = blocks;
          innermost[x] = b;
        }
      }
    }
    auto leaves_loop = [&](size_t x, uint32_t t) {
      if (innermost[x] == count_) return false;
      const StructuredBlock& loop = graph_.blocks[innermost[x]];
      return t == loop.merge_block || t == loop.continue_block;
    };
    for (size_t b = 0; b < count_; ++b) {
      const StructuredBlock& block = graph_.blocks[b];
      if (block.targets.size() > 1 && block.merge == MergeKind::none) {
        for (uint32_t t : block.targets) {
          const bool back = t == innermost[b] && graph_.blocks[t].continue_block == b;
          if (block.terminator != TerminatorKind::branch || (!leaves_loop(b, t) && !back))
            fail(b, "a choice without a merge");
        }
      }
      if (block.merge == MergeKind::none) continue;
      for (size_t x = 0; x < count_; ++x) {
        for (uint32_t t : graph_.blocks[x].targets) {
          if (sets[b][x] && !sets[b][t]) {
            const bool back =
                innermost[x] == t || (innermost[x] != count_ && graph_.blocks[innermost[x]].continue_block == x);
            if (t != block.merge_block && !leaves_loop(x, t) && !back) {
              fail(x, "leaves the construct of " + std::to_string(b) + " for " + std::to_string(t));
            }
          }
          if (!sets[b][x] && sets[b][t] && t != b)
            fail(x, "enters the construct of " + std::to_string(b) + " sideways");
        }
      }
    }
  }

  const StructuredGraph& graph_;
  size_t count_;
  Set reachable_;
  std::vector<Set> dominated_;
  std::string broken_;
};

}  // namespace

std::string broken_rule(const StructuredGraph& graph) {
  if (graph.blocks.empty()) return "no block";
  return Rules(graph).check();
}

}  // namespace orrery::shader::cfg::test
