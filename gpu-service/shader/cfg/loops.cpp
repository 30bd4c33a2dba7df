#include "gpu-service/shader/cfg/loops.hpp"

#include <algorithm>
#include <utility>

namespace orrery::shader::cfg {
namespace {

constexpr uint32_t kNone = ~0u;

// Strongly connected components, from the outside in: a component is a loop; without its header its own components are
// the loops inside.
class LoopFinder {
 public:
  explicit LoopFinder(GuestGraph& graph) : graph_(graph) {}

  LoopForest find() {
    const auto count = static_cast<uint32_t>(graph_.blocks.size());
    sources_.resize(count);
    for (uint32_t u = 0; u < count; ++u) {
      for (const Edge& edge : graph_.blocks[u].edges) sources_[edge.target].push_back(u);
    }
    grow();
    if (!sources_[graph_.entry].empty()) add_entry();
    std::vector<uint32_t> all(graph_.blocks.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    todo_.push_back({std::move(all), kNoLoop});
    while (!todo_.empty()) {
      auto [members, parent] = std::move(todo_.back());
      todo_.pop_back();
      components(members, parent);
    }
    return std::move(forest_);
  }

 private:
  struct Part {
    std::vector<uint32_t> members;
    uint32_t parent;
  };
  struct Visit {
    uint32_t block, edge;
  };

  void grow() {
    const size_t count = graph_.blocks.size();
    sources_.resize(count);
    forest_.innermost.resize(count, kNoLoop);
    part_.resize(count, kNone);
    order_.resize(count, kNone);
    low_.resize(count, 0);
    on_stack_.resize(count, false);
  }

  // The host's entry block may not be a branch's target.
  void add_entry() {
    const auto entry = static_cast<uint32_t>(graph_.blocks.size());
    GuestBlock block;
    block.terminator = TerminatorKind::jump;
    block.edges.push_back({graph_.entry, {}, false});
    graph_.blocks.push_back(std::move(block));
    grow();
    sources_[graph_.entry].push_back(entry);
    graph_.entry = entry;
  }

  void components(const std::vector<uint32_t>& members, uint32_t parent) {
    const uint32_t part = parts_++;
    for (uint32_t u : members) {
      part_[u] = part;
      order_[u] = kNone;
    }
    uint32_t next = 0;
    std::vector<Visit> path;
    std::vector<uint32_t> stack;
    auto enter = [&](uint32_t u) {
      order_[u] = low_[u] = next++;
      on_stack_[u] = true;
      stack.push_back(u);
      path.push_back({u, 0});
    };
    for (uint32_t root : members) {
      if (order_[root] != kNone) continue;
      enter(root);
      while (!path.empty()) {
        const uint32_t u = path.back().block;
        const auto& edges = graph_.blocks[u].edges;
        if (path.back().edge < edges.size()) {
          const uint32_t v = edges[path.back().edge++].target;
          if (part_[v] != part) continue;
          if (order_[v] == kNone) {
            enter(v);
          } else if (on_stack_[v]) {
            low_[u] = std::min(low_[u], order_[v]);
          }
          continue;
        }
        path.pop_back();
        if (!path.empty()) low_[path.back().block] = std::min(low_[path.back().block], low_[u]);
        if (low_[u] != order_[u]) continue;
        std::vector<uint32_t> component;
        do {
          component.push_back(stack.back());
          on_stack_[stack.back()] = false;
          stack.pop_back();
        } while (component.back() != u);
        found_.push_back(std::move(component));
      }
    }
    for (std::vector<uint32_t>& component : std::exchange(found_, {})) add_loop(component, parent);
  }

  bool branches_to(uint32_t u, uint32_t v) const {
    return std::ranges::any_of(graph_.blocks[u].edges, [&](const Edge& edge) { return edge.target == v; });
  }

  void add_loop(std::vector<uint32_t>& component, uint32_t parent) {
    if (component.size() == 1 && !branches_to(component[0], component[0])) return;
    const uint32_t part = parts_++;
    for (uint32_t u : component) part_[u] = part;
    std::vector<uint32_t> entries;
    for (uint32_t u : component) {
      if (std::ranges::any_of(sources_[u], [&](uint32_t s) { return part_[s] != part; })) entries.push_back(u);
    }
    const auto loop = static_cast<uint32_t>(forest_.loops.size());
    const uint32_t depth = parent == kNoLoop ? 0 : forest_.loops[parent].depth + 1;
    for (uint32_t u : component) forest_.innermost[u] = loop;
    uint32_t header = entries[0];
    if (entries.size() > 1) {
      std::ranges::sort(entries);
      header = add_header(entries);
      forest_.innermost[header] = loop;
    } else {
      std::erase(component, header);
      part_[header] = kNone;
    }
    forest_.loops.push_back({header, parent, depth});
    if (depth < kMaxNesting && !component.empty()) todo_.push_back({std::move(component), loop});
  }

  // Every edge to an entry goes through the new header, which knows by its routing variable where to go on.
  uint32_t add_header(const std::vector<uint32_t>& entries) {
    forest_.irreducible = true;
    const auto header = static_cast<uint32_t>(graph_.blocks.size());
    GuestBlock block;
    block.terminator = TerminatorKind::route;
    block.route = ++graph_.routes;  // routing variable 0 is the one of the emission
    graph_.blocks.push_back(std::move(block));
    grow();
    for (uint32_t i = 0; i < entries.size(); ++i) {
      std::vector<uint32_t> sources = std::exchange(sources_[entries[i]], {});
      std::ranges::sort(sources);
      sources.erase(std::ranges::unique(sources).begin(), sources.end());
      for (uint32_t s : sources) {
        for (Edge& edge : graph_.blocks[s].edges) {
          if (edge.target != entries[i]) continue;
          edge.target = header;
          edge.assignments.push_back({graph_.blocks[header].route, i});
          sources_[header].push_back(s);
        }
      }
    }
    for (uint32_t entry : entries) {
      graph_.blocks[header].edges.push_back({entry, {}, false});
      sources_[entry].push_back(header);
    }
    return header;
  }

  GuestGraph& graph_;
  LoopForest forest_;
  std::vector<std::vector<uint32_t>> sources_;  // per block: where its incoming edges start
  std::vector<uint32_t> part_;                  // the part of the graph a block was last looked at in
  std::vector<uint32_t> order_, low_;
  std::vector<bool> on_stack_;
  std::vector<Part> todo_;
  std::vector<std::vector<uint32_t>> found_;
  uint32_t parts_ = 0;
};

}  // namespace

LoopForest find_loops(GuestGraph& graph) { return LoopFinder(graph).find(); }

}  // namespace orrery::shader::cfg
