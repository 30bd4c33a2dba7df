#include "gpu-service/shader/cfg/dominators.hpp"

#include <algorithm>

namespace orrery::shader::cfg {
namespace {

constexpr uint32_t kNone = ~0u;

// Depth first; an edge to a block still on the path closes a loop.
std::vector<uint32_t> topological_order(GuestGraph& graph) {
  enum class State : uint8_t { fresh, open, closed };
  struct Visit {
    uint32_t block, edge;
  };
  std::vector<State> state(graph.blocks.size(), State::fresh);
  std::vector<uint32_t> order;
  std::vector<Visit> path{{graph.entry, 0}};
  state[graph.entry] = State::open;
  while (!path.empty()) {
    const uint32_t u = path.back().block;
    auto& edges = graph.blocks[u].edges;
    if (path.back().edge < edges.size()) {
      Edge& edge = edges[path.back().edge++];
      edge.back = state[edge.target] == State::open;
      if (state[edge.target] != State::fresh) continue;
      state[edge.target] = State::open;
      path.push_back({edge.target, 0});
      continue;
    }
    state[u] = State::closed;
    order.push_back(u);
    path.pop_back();
  }
  std::ranges::reverse(order);
  return order;
}

}  // namespace

Dominators dominators(GuestGraph& graph) {
  const size_t count = graph.blocks.size();
  Dominators tree{topological_order(graph), std::vector<uint32_t>(count, kNone), std::vector<uint32_t>(count, 0),
                  std::vector<uint32_t>(count, 0)};
  // Jump pointers: any common ancestor in logarithmic time.
  std::vector<uint32_t> jump(count, graph.entry);
  auto common = [&](uint32_t a, uint32_t b) {
    auto lift = [&](uint32_t from, uint32_t depth) {
      while (tree.depth[from] > depth) from = tree.depth[jump[from]] >= depth ? jump[from] : tree.immediate[from];
      return from;
    };
    a = lift(a, tree.depth[b]);
    b = lift(b, tree.depth[a]);
    while (a != b) {
      const bool far = jump[a] != jump[b];
      a = far ? jump[a] : tree.immediate[a];
      b = far ? jump[b] : tree.immediate[b];
    }
    return a;
  };
  tree.immediate[graph.entry] = graph.entry;
  for (uint32_t u : tree.order) {
    if (u != graph.entry) {
      const uint32_t parent = tree.immediate[u];
      tree.depth[u] = tree.depth[parent] + 1;
      const uint32_t over = jump[parent];
      const bool even = tree.depth[parent] - tree.depth[over] == tree.depth[over] - tree.depth[jump[over]];
      jump[u] = even ? jump[over] : parent;
    }
    for (const Edge& edge : graph.blocks[u].edges) {
      if (edge.back) continue;
      uint32_t& immediate = tree.immediate[edge.target];
      ++tree.entering[edge.target];
      immediate = immediate == kNone ? u : common(immediate, u);
    }
  }
  return tree;
}

}  // namespace orrery::shader::cfg
