#include "gpu-service/shader/cfg/structure_tree.hpp"

#include <algorithm>

#include "gpu-service/shader/cfg/dominators.hpp"

namespace orrery::shader::cfg {
namespace {

class TreeMaker {
 public:
  TreeMaker(GuestGraph& graph, LoopForest& forest) : graph_(graph), forest_(forest) {}

  StructureTree make(Freedom freedom) {
    repeat_shared_ends(freedom.repeat_ends);
    dominators_ = dominators(graph_);
    tree_.exits.resize(forest_.loops.size());
    latch_.assign(graph_.blocks.size(), false);
    if (freedom.latches) find_latches();
    measure();
    choose_pulled();
    nest();
    follow_edges();
    sum_up();
    tree_.order = std::move(dominators_.order);
    return std::move(tree_);
  }

 private:
  struct Measure {
    uint32_t instructions = 0;
    bool loops = false;  // a loop's header or a way to the next round of one lies inside
    uint32_t low = ~0u;  // least depth of the immediate dominator of a target
  };

  bool is_header(uint32_t u) const {
    const uint32_t loop = forest_.innermost[u];
    return loop != kNoLoop && forest_.loops[loop].header == u;
  }
  uint32_t parent_loop(uint32_t loop) const { return forest_.loops[loop].parent; }
  // The loop just inside `outer` that holds `inner`.
  uint32_t just_inside(uint32_t outer, uint32_t inner) const {
    while (parent_loop(inner) != outer) inner = parent_loop(inner);
    return inner;
  }
  // The tree's node a block is placed as, and the loop it is placed in.
  uint32_t node_of(uint32_t u) const { return is_header(u) ? tree_.loop_node(forest_.innermost[u]) : u; }

  void repeat_shared_ends(bool everywhere) {
    std::vector<uint32_t> uses(graph_.blocks.size(), 0);
    const size_t count = graph_.blocks.size();
    for (size_t u = 0; u < count; ++u) {
      for (size_t e = 0; e < graph_.blocks[u].edges.size(); ++e) {
        Edge& edge = graph_.blocks[u].edges[e];
        if (!graph_.blocks[edge.target].only_ends()) continue;
        if (!everywhere && forest_.innermost[u] == kNoLoop) continue;
        if (uses[edge.target]++ == 0 && everywhere) continue;
        GuestBlock copy = graph_.blocks[edge.target];
        edge.target = static_cast<uint32_t>(graph_.blocks.size());
        graph_.blocks.push_back(std::move(copy));
        forest_.innermost.push_back(kNoLoop);
      }
    }
  }

  // A latch has the loop's only back edge, and its other edge, if any, leaves the loop.
  void find_latches() {
    std::vector<uint32_t> backs(forest_.loops.size(), 0);
    for (uint32_t u : dominators_.order) {
      for (const Edge& edge : graph_.blocks[u].edges) {
        if (!edge.back) continue;
        const uint32_t loop = forest_.innermost[edge.target];
        ++backs[loop];
        tree_.exits[loop].latch = u;
      }
    }
    for (uint32_t loop = 0; loop < backs.size(); ++loop) {
      uint32_t& latch = tree_.exits[loop].latch;
      const auto& edges = graph_.blocks[latch].edges;
      const bool simple =
          backs[loop] == 1 && forest_.innermost[latch] == loop && !is_header(latch) &&
          graph_.blocks[latch].terminator != TerminatorKind::route &&
          std::ranges::none_of(edges, [&](const Edge& edge) {
            return edge.target != forest_.loops[loop].header && forest_.holds(loop, forest_.innermost[edge.target]);
          });
      if (simple) {
        latch_[latch] = true;
      } else {
        latch = ~0u;
      }
    }
    for (uint32_t u : dominators_.order) {
      for (Edge& edge : graph_.blocks[u].edges) edge.back = edge.back || latch_[edge.target];
    }
  }

  void measure() {
    measures_.resize(graph_.blocks.size());
    for (auto at = dominators_.order.rbegin(); at != dominators_.order.rend(); ++at) {
      const uint32_t u = *at;
      Measure& here = measures_[u];
      here.instructions += graph_.blocks[u].count;
      here.loops = here.loops || is_header(u);
      for (const Edge& edge : graph_.blocks[u].edges) {
        if (edge.back) {
          here.loops = true;
        } else {
          here.low = std::min(here.low, dominators_.depth[dominators_.immediate[edge.target]]);
        }
      }
      if (u == graph_.entry) continue;
      Measure& above = measures_[dominators_.immediate[u]];
      above.instructions += here.instructions;
      above.loops = above.loops || here.loops;
      above.low = std::min(above.low, here.low);
    }
  }

  // A loop that leads to several places behind it needs a routing variable, unless what follows one of its exits may
  // just as well stand inside, in front of the break (or of the wave's end).
  void choose_pulled() {
    pulled_.assign(graph_.blocks.size(), false);
    std::vector<std::vector<uint32_t>> targets(forest_.loops.size());
    for (uint32_t u : dominators_.order) {
      for (const Edge& edge : graph_.blocks[u].edges) {
        const uint32_t home = forest_.innermost[edge.target];
        for (uint32_t loop = forest_.innermost[u]; loop != kNoLoop; loop = parent_loop(loop)) {
          if (edge.back ? loop == home : forest_.holds(loop, home)) break;
          targets[loop].push_back(edge.back ? ~home : edge.target);
        }
      }
    }
    for (uint32_t loop = 0; loop < targets.size(); ++loop) {
      std::vector<uint32_t>& exits = targets[loop];
      std::ranges::sort(exits);
      exits.erase(std::ranges::unique(exits).begin(), exits.end());
      if (exits.size() > 1) choose_pulled(loop, exits);
    }
  }

  void choose_pulled(uint32_t loop, const std::vector<uint32_t>& exits) {
    std::vector<uint32_t> ending, leaving;
    for (uint32_t v : exits) {
      if (v >= graph_.blocks.size()) continue;
      const uint32_t from = dominators_.immediate[v];
      const bool movable =
          dominators_.entering[v] == 1 && !latch_[from] && forest_.innermost[from] == loop && !measures_[v].loops;
      if (!movable) continue;
      (measures_[v].low < dominators_.depth[v] ? leaving : ending).push_back(v);
    }
    const size_t fixed = exits.size() - ending.size() - leaving.size();
    if (fixed == 0 && leaving.size() == 1) leaving.clear();
    if (fixed == 0 && leaving.empty() && ending.size() == exits.size()) {
      std::erase(ending, *std::ranges::max_element(ending, {}, [&](uint32_t v) { return measures_[v].instructions; }));
    }
    for (uint32_t v : ending) pulled_[v] = true;
    for (uint32_t v : leaving) pulled_[v] = true;
  }

  void nest() {
    tree_.blocks = static_cast<uint32_t>(graph_.blocks.size());
    tree_.nodes.resize(graph_.blocks.size() + forest_.loops.size());
    for (uint32_t u : dominators_.order) {
      const uint32_t above = dominators_.immediate[u];
      const uint32_t node = node_of(u);
      StructureTree::Node& placed = tree_.nodes[node];
      pulled_[u] = pulled_[u] || pulled_[above];
      placed.loop = pulled_[u]  ? tree_.nodes[above].loop
                    : node != u ? parent_loop(forest_.innermost[u])
                                : forest_.innermost[u];
      if (latch_[u]) {
        placed.loop = forest_.innermost[u];
        continue;
      }
      if (u != graph_.entry) {
        const uint32_t around = tree_.nodes[above].loop;
        placed.parent = around == placed.loop ? above : tree_.loop_node(just_inside(placed.loop, around));
        placed.depth = tree_.nodes[placed.parent].depth + 1;
        placed.arm = placed.parent == above && dominators_.entering[u] == 1;
        if (!placed.arm) tree_.nodes[placed.parent].tails.push_back(node);
      }
      if (node != u) {
        tree_.nodes[u].parent = node;
        tree_.nodes[u].depth = placed.depth + 1;
        tree_.nodes[u].loop = forest_.innermost[u];
      }
    }
  }

  void follow_edges() {
    for (uint32_t u : dominators_.order) {
      StructureTree::Node& from = tree_.nodes[u];
      for (const Edge& edge : graph_.blocks[u].edges) {
        const uint32_t home = forest_.innermost[edge.target];
        const StructureTree::Node& to = tree_.nodes[node_of(edge.target)];
        const uint32_t end = edge.back ? home : to.loop;
        uint32_t depth = edge.back ? ~0u : tree_.nodes[to.parent].depth;
        if (end == from.loop) {
          if (edge.back) {
            from.continues = true;
          } else if (!to.arm) {
            from.own_low = std::min(from.own_low, depth);
          }
          continue;
        }
        uint32_t loop = from.loop;
        for (; parent_loop(loop) != end; loop = parent_loop(loop)) {
          tree_.exits[loop].breaks_parent = true;
          tree_.exits[loop].break_targets.push_back(tree_.value_of(forest_, edge));
        }
        if (edge.back) {
          tree_.exits[loop].continues_parent = true;
        } else {
          StructureTree::Node& node = tree_.nodes[tree_.loop_node(loop)];
          node.own_low = std::min(node.own_low, depth);
        }
      }
    }
    for (StructureTree::LoopExits& exits : tree_.exits) {
      std::ranges::sort(exits.break_targets);
      exits.break_targets.erase(std::ranges::unique(exits.break_targets).begin(), exits.break_targets.end());
    }
  }

  void sum_up() {
    for (auto at = dominators_.order.rbegin(); at != dominators_.order.rend(); ++at) {
      const uint32_t u = *at, node = node_of(u);
      StructureTree::Node& block = tree_.nodes[u];
      block.low = std::min(block.low, block.own_low);
      block.instructions += graph_.blocks[u].count;
      if (node != u) {
        StructureTree::Node& loop = tree_.nodes[node];
        loop.low = std::min(loop.low, loop.own_low);
        loop.instructions += block.instructions;
        loop.continues = loop.continues || tree_.exits[forest_.innermost[u]].continues_parent;
      }
      if (u == graph_.entry || latch_[u]) continue;
      const StructureTree::Node& placed = tree_.nodes[node];
      StructureTree::Node& above = tree_.nodes[placed.parent];
      above.low = std::min(above.low, placed.low);
      above.instructions += placed.instructions;
      above.continues = above.continues || placed.continues;
    }
  }

  GuestGraph& graph_;
  LoopForest& forest_;
  Dominators dominators_;
  std::vector<Measure> measures_;
  std::vector<bool> pulled_, latch_;
  StructureTree tree_;
};

}  // namespace

StructureTree structure_tree(GuestGraph& graph, LoopForest& forest, Freedom freedom) {
  return TreeMaker(graph, forest).make(freedom);
}

}  // namespace orrery::shader::cfg
