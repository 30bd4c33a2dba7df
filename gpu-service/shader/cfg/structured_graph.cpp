#include "gpu-service/shader/cfg/structured_graph.hpp"

#include <algorithm>

#include "gpu-service/shader/cfg/structure_tree.hpp"

namespace orrery::shader::cfg {
namespace {

// Deeper than this, an early `continue` is a jump and no longer an arm of an if around the rest.
constexpr uint32_t kNestedContinues = 64;

// Writes the tree down as structured blocks.
class Emission {
 public:
  Emission(const GuestGraph& graph, const LoopForest& forest, const StructureTree& tree)
      : graph_(graph), forest_(forest), tree_(tree), loops_(forest.loops.size()) {}

  // False: nested too deep.
  bool run() {
    sequence(graph_.entry, Place{}, new_block(), 0);
    return !too_deep_;
  }

  uint32_t detours() const { return detours_; }

  StructuredGraph take() {
    StructuredGraph result;
    std::vector<uint32_t> number(blocks_.size(), kNoBlock);
    for (uint32_t i = 0; i < order_.size(); ++i) number[order_[i]] = i;
    auto renumber = [&](uint32_t& block) {
      if (block != kNoBlock) block = number[block];
    };
    for (uint32_t old : order_) {
      StructuredBlock& block = result.blocks.emplace_back(std::move(blocks_[old]));
      renumber(block.merge_block);
      renumber(block.continue_block);
      for (uint32_t& target : block.targets) renumber(target);
    }
    result.routes = graph_.routes + (graph_.routes + detours_ > 0 ? 1 : 0);
    result.dispatcher = forest_.irreducible;
    return result;
  }

 private:
  // Where a run of blocks stands.
  struct Place {
    uint32_t next = kNoBlock;  // the block behind it: the merge of the construct around it
    bool again = false;        // `next` leads to the loop's next round and nowhere else
    bool routed = false;       // `next` chooses by routing variable 0
    uint32_t loop = kNoLoop;
  };
  struct LoopBlocks {
    uint32_t exit = kNoBlock, next_round = kNoBlock;
    bool routed = false;  // the exit chooses by routing variable 0
  };
  enum class Way : uint8_t { arm, again, out, on };
  // What happens behind all tails of a node.
  struct Behind {
    bool last_plain = false;  // the last tail is where everything arrives: needs no choice
    bool on = false, again = false, out = false;
    bool routed = false;  // arriving there needs routing variable 0
  };

  uint32_t new_block() {
    blocks_.emplace_back();
    return static_cast<uint32_t>(blocks_.size() - 1);
  }
  StructuredBlock& place(uint32_t block) {
    order_.push_back(block);
    return blocks_[block];
  }
  void place_jump(uint32_t block, uint32_t target) {
    StructuredBlock& placed = place(block);
    placed.terminator = TerminatorKind::jump;
    placed.targets = {target};
  }

  bool is_loop(uint32_t node) const { return node >= tree_.blocks; }
  uint32_t node_of(uint32_t block) const {
    const uint32_t loop = forest_.innermost[block];
    return loop != kNoLoop && forest_.loops[loop].header == block ? tree_.loop_node(loop) : block;
  }
  uint32_t value_of(uint32_t node) const { return is_loop(node) ? forest_.loops[node - tree_.blocks].header : node; }
  bool leaves(uint32_t inner, uint32_t owner) const { return tree_.nodes[inner].low < tree_.nodes[owner].depth; }

  Way way(const Edge& edge, uint32_t loop) const {
    if (edge.back) return forest_.innermost[edge.target] == loop ? Way::again : Way::out;
    const StructureTree::Node& to = tree_.nodes[node_of(edge.target)];
    if (to.arm) return Way::arm;
    return to.loop == loop ? Way::on : Way::out;
  }

  Behind behind(uint32_t node, const Place& here) const {
    const StructureTree::Node& facts = tree_.nodes[node];
    Behind result;
    result.on = facts.own_low < facts.depth;
    if (is_loop(node)) {
      result.again = tree_.exits[node - tree_.blocks].continues_parent;
      result.out = tree_.exits[node - tree_.blocks].breaks_parent;
    } else {
      for (const Edge& edge : graph_.blocks[node].edges) {
        if (way(edge, here.loop) == Way::arm) result.on = result.on || leaves(node_of(edge.target), node);
      }
    }
    for (size_t i = 0; i < facts.tails.size(); ++i) {
      if (i + 1 == facts.tails.size()) result.last_plain = !result.on && !result.again && !result.out;
      result.on = result.on || leaves(facts.tails[i], node);
    }
    const int ways = int{result.on} + int{result.again} + int{result.out};
    result.routed = ways > 1 || (result.on && here.routed) || (result.out && loops_[here.loop].routed);
    return result;
  }

  bool first_routed(uint32_t node, const Behind& behind) const {
    const size_t tails = tree_.nodes[node].tails.size();
    return tails == 0 ? behind.routed : tails > 1 || !behind.last_plain;
  }

  void sequence(uint32_t node, Place here, uint32_t entry, uint32_t nesting) {
    if (nesting > kMaxNesting) {
      too_deep_ = true;
      return;
    }
    while (node != kNoBlock && !too_deep_) {
      const Behind after = behind(node, here);
      uint32_t merge = kNoBlock;
      if (is_loop(node)) {
        merge = loop(node, after, entry, nesting);
      } else if (tree_.nodes[node].tails.empty()) {
        node = block_without_tails(node, here, entry, nesting);
        entry = merge_;
        continue;
      } else {
        merge = new_block();
        const Place inside{merge, false, first_routed(node, after), here.loop};
        branch(node, inside, entry, merge, kNoBlock, kNoBlock, nesting);
      }
      node = tails(node, here, after, merge, nesting);
      entry = merge_;
    }
  }

  uint32_t loop(uint32_t node, const Behind& after, uint32_t entry, uint32_t nesting) {
    const uint32_t number = node - tree_.blocks;
    LoopBlocks& made = loops_[number];
    made = {new_block(), new_block(), first_routed(node, after)};
    const LoopBlocks blocks = made;
    const uint32_t body = new_block();
    StructuredBlock& header = place(entry);
    header.terminator = TerminatorKind::jump;
    header.targets = {body};
    header.merge = MergeKind::loop;
    header.merge_block = blocks.exit;
    header.continue_block = blocks.next_round;
    sequence(forest_.loops[number].header, Place{blocks.next_round, true, false, number}, body, nesting + 1);
    next_round(number, entry);
    return blocks.exit;
  }

  // The continue block: empty, or the latch. A latch's ways out are a plain choice, so what either way assigns is
  // assigned in front of it.
  void next_round(uint32_t loop, uint32_t header) {
    const uint32_t latch = tree_.exits[loop].latch, block = loops_[loop].next_round;
    if (latch == kNoBlock) return place_jump(block, header);
    StructuredBlock& placed = place(block);
    fill(placed, graph_.blocks[latch]);
    for (const Edge& edge : graph_.blocks[latch].edges) {
      Place here;
      here.loop = loop;
      Arrival to = arrival(edge, here);
      placed.targets.push_back(edge.back && forest_.innermost[edge.target] == loop ? header : to.target);
      placed.assignments.insert(placed.assignments.end(), to.assignments.begin(), to.assignments.end());
    }
  }

  // Everything behind a construct that arrives at `merge`. Gives the node to go on with, at block merge_.
  uint32_t tails(uint32_t node, const Place& here, const Behind& after, uint32_t merge, uint32_t nesting) {
    const std::vector<uint32_t>& tails = tree_.nodes[node].tails;
    for (size_t i = 0; i < tails.size(); ++i) {
      const bool last = i + 1 == tails.size();
      if (last && after.last_plain) {
        merge_ = merge;
        return tails[i];
      }
      const uint32_t entry = new_block(), next = new_block();
      route(merge, {value_of(tails[i])}, {entry, next}, next);
      const bool next_plain = i + 2 == tails.size() && after.last_plain;
      sequence(tails[i], Place{next, false, last ? after.routed : !next_plain, here.loop}, entry, nesting + 1);
      merge = next;
    }
    finish(node, here, after, merge);
    return kNoBlock;
  }

  void route(uint32_t block, std::vector<uint32_t> values, std::vector<uint32_t> targets, uint32_t merge) {
    ++detours_;
    StructuredBlock& placed = place(block);
    placed.terminator = TerminatorKind::route;
    placed.values = std::move(values);
    placed.targets = std::move(targets);
    placed.merge = MergeKind::selection;
    placed.merge_block = merge;
  }

  // Leaves the construct around. Behind a loop this may mean the outer loop's next round, or its exit.
  void finish(uint32_t node, const Place& here, const Behind& after, uint32_t block) {
    const uint32_t again = here.again ? here.next : here.loop == kNoLoop ? kNoBlock : loops_[here.loop].next_round;
    const uint32_t out = here.loop == kNoLoop ? kNoBlock : loops_[here.loop].exit;
    const int ways = int{after.on} + int{after.again} + int{after.out};
    if (ways == 0) {
      place(block);
    } else if (ways == 1) {
      place_jump(block, after.on ? here.next : after.again ? again : out);
    } else {
      const uint32_t merge = new_block();
      std::vector<uint32_t> values, targets;
      std::vector<std::pair<uint32_t, uint32_t>> ends;
      auto add = [&](const std::vector<uint32_t>& chosen, uint32_t target) {
        ends.emplace_back(new_block(), target);
        values.insert(values.end(), chosen.begin(), chosen.end());
        targets.insert(targets.end(), std::max<size_t>(chosen.size(), 1), ends.back().first);
      };
      if (after.again) add({tree_.loop_node(here.loop)}, loops_[here.loop].next_round);
      if (after.out) {
        const bool rest = !after.on;
        add(rest ? std::vector<uint32_t>{} : tree_.exits[node - tree_.blocks].break_targets, out);
      }
      if (after.on) targets.push_back(merge);
      route(block, std::move(values), std::move(targets), merge);
      for (auto [from, to] : ends) place_jump(from, to);
      if (after.on) {
        place_jump(merge, here.next);
      } else {
        place(merge);
      }
    }
  }

  struct Arrival {
    uint32_t target = kNoBlock;
    std::vector<RouteAssignment> assignments;
  };
  Arrival arrival(const Edge& edge, const Place& here) const {
    Arrival result{kNoBlock, edge.assignments};
    bool routed = false;
    switch (way(edge, here.loop)) {
      case Way::again:
        result.target = here.again ? here.next : loops_[here.loop].next_round;
        break;
      case Way::out:
        result.target = loops_[here.loop].exit;
        routed = loops_[here.loop].routed;
        break;
      case Way::on:
        result.target = here.next;
        routed = here.routed;
        break;
      case Way::arm:
        break;
    }
    if (routed) result.assignments.push_back({0, tree_.value_of(forest_, edge)});
    return result;
  }

  void fill(StructuredBlock& placed, const GuestBlock& guest) const {
    placed.first = guest.first;
    placed.count = guest.count;
    placed.terminator = guest.terminator;
    placed.condition = guest.condition;
    placed.route = guest.route;
  }

  // Writes a block of several edges and its arms, all of which stand at `inside`; the arm `rest` (if any) is left to
  // the caller, at block `rest_entry`.
  void branch(uint32_t node, const Place& inside, uint32_t entry, uint32_t merge, uint32_t rest, uint32_t rest_entry,
              uint32_t nesting) {
    const GuestBlock& guest = graph_.blocks[node];
    fill(place(entry), guest);
    std::vector<uint32_t> targets;
    std::vector<std::pair<uint32_t, uint32_t>> arms;  // node, entry
    uint32_t unreached = kNoBlock;
    for (const Edge& edge : guest.edges) {
      if (way(edge, inside.loop) == Way::arm) {
        const uint32_t arm = node_of(edge.target);
        if (arm == rest) {
          targets.push_back(rest_entry);
        } else {
          arms.emplace_back(arm, new_block());
          targets.push_back(arms.back().second);
        }
        if (edge.assignments.empty()) continue;
      }
      Arrival to = arrival(edge, inside);
      if (to.target == kNoBlock) {  // an arm that is reached with an assignment
        to.target = targets.back();
        targets.pop_back();
      }
      if (to.assignments.empty() && guest.terminator != TerminatorKind::route) {
        targets.push_back(to.target);
        continue;
      }
      const uint32_t between = new_block();
      if (merge == kNoBlock) merge = unreached = new_block();
      place_jump(between, to.target);
      blocks_[between].assignments = std::move(to.assignments);
      targets.push_back(between);
    }
    StructuredBlock& placed = blocks_[entry];
    if (guest.terminator == TerminatorKind::route) {
      for (uint32_t i = 0; i + 1 < guest.edges.size(); ++i) placed.values.push_back(i);
    }
    if (placed.terminator == TerminatorKind::branch && targets[0] == targets[1]) {
      placed.terminator = TerminatorKind::jump;
      targets.pop_back();
    } else if (merge != kNoBlock) {
      placed.merge = MergeKind::selection;
      placed.merge_block = merge;
    }
    placed.targets = std::move(targets);
    for (auto [arm, at] : arms) sequence(arm, inside, at, nesting + 1);
    if (unreached != kNoBlock) place(unreached);
  }

  // Gives the node to go on with at block merge_, or kNoBlock.
  uint32_t block_without_tails(uint32_t node, const Place& here, uint32_t entry, uint32_t nesting) {
    const GuestBlock& guest = graph_.blocks[node];
    merge_ = kNoBlock;
    if (guest.edges.size() < 2) {
      fill(place(entry), guest);
      if (guest.edges.empty()) return kNoBlock;
      const Edge& edge = guest.edges[0];
      Arrival to = arrival(edge, here);
      blocks_[entry].assignments = std::move(to.assignments);
      const bool arm = to.target == kNoBlock;
      if (arm) to.target = merge_ = new_block();
      blocks_[entry].targets = {to.target};
      return arm ? node_of(edge.target) : kNoBlock;
    }
    const bool again = here.again && nesting < kNestedContinues;
    uint32_t joins = 0, largest = kNoBlock, joining = kNoBlock;
    for (const Edge& edge : guest.edges) {
      const Way to = way(edge, here.loop);
      if (to == Way::on || (to == Way::again && again)) ++joins;
      if (to != Way::arm) continue;
      const uint32_t arm = node_of(edge.target);
      const StructureTree::Node& facts = tree_.nodes[arm];
      if (largest == kNoBlock || facts.instructions > tree_.nodes[largest].instructions) largest = arm;
      if (leaves(arm, node) || (facts.continues && again)) {
        ++joins;
        joining = arm;
      }
    }
    if (joins == 0 || (joins == 1 && joining != kNoBlock)) {
      // The other ways end or leave the loop: one arm needs no construct, it is simply what follows.
      const uint32_t rest = joins == 1 ? joining : largest;
      const Place aside{kNoBlock, false, false, here.loop};
      uint32_t merge = kNoBlock;
      if (rest != kNoBlock) merge = new_block();
      branch(node, aside, entry, merge, rest, merge, nesting);
      merge_ = merge;
      return rest;
    }
    const uint32_t merge = new_block();
    branch(node, Place{merge, again, here.routed, here.loop}, entry, merge, kNoBlock, kNoBlock, nesting);
    place_jump(merge, here.next);
    return kNoBlock;
  }

  const GuestGraph& graph_;
  const LoopForest& forest_;
  const StructureTree& tree_;
  std::vector<LoopBlocks> loops_;
  std::vector<StructuredBlock> blocks_;
  std::vector<uint32_t> order_;
  uint32_t merge_ = kNoBlock;  // entry block of the node that sequence() goes on with
  uint32_t detours_ = 0;
  bool too_deep_ = false;
};

struct Attempt {
  StructuredGraph graph;
  uint32_t detours = 0;
  bool too_deep = false;
};

Attempt attempt(GuestGraph graph, LoopForest forest, Freedom freedom) {
  const StructureTree tree = structure_tree(graph, forest, freedom);
  Emission emission(graph, forest, tree);
  Attempt result;
  result.too_deep = !emission.run();
  result.detours = emission.detours();
  if (!result.too_deep) result.graph = emission.take();
  return result;
}

}  // namespace

std::expected<StructuredGraph, std::vector<ShaderRefusal>> structure(const Program& program) {
  auto graph = guest_graph(program);
  if (!graph) return std::unexpected(std::move(graph.error()));
  const LoopForest forest = find_loops(*graph);
  const bool too_deep = std::ranges::any_of(forest.loops, [](const Loop& loop) { return loop.depth >= kMaxNesting; });
  if (!too_deep) {
    Attempt made = attempt(*graph, forest, {});
    for (Freedom freedom : {Freedom{false, true}, Freedom{true, false}, Freedom{true, true}}) {
      if (!made.too_deep && made.detours == 0) break;
      Attempt other = attempt(*graph, forest, freedom);
      if (!other.too_deep && (made.too_deep || other.detours < made.detours)) made = std::move(other);
    }
    if (!made.too_deep) return std::move(made.graph);
  }
  return std::unexpected(std::vector<ShaderRefusal>{
      {0, "program", "control flow nested deeper than " + std::to_string(kMaxNesting) + " constructs"}});
}

}  // namespace orrery::shader::cfg
