#include "gpu-service/shader/passes/constructs.hpp"

#include <algorithm>

namespace orrery::shader::passes {

using cfg::MergeKind;
using cfg::StructuredBlock;
using cfg::TerminatorKind;
using ir::Op;

std::optional<Vote> vote_of(const ir::Function& f, uint32_t block) {
  const StructuredBlock& shape = f.graph->blocks[block];
  if (shape.terminator != TerminatorKind::branch || !f.blocks[block].condition) return std::nullopt;
  ir::Value v = f.blocks[block].condition;
  bool negated = false;
  for (; f.at(v).op == Op::inot; v = f.args(v)[0]) negated = !negated;
  if (f.at(v).op != Op::any || !f.at(f.args(v)[0]).per_lane) return std::nullopt;
  return Vote{f.args(v)[0], v.id, shape.targets[negated ? 1 : 0], shape.targets[negated ? 0 : 1]};
}

namespace {

class Finder {
 public:
  explicit Finder(const ir::Function& f) : f_(f) {}

  std::optional<Constructs> run() {
    const auto count = static_cast<uint32_t>(f_.blocks.size());
    out_.all.push_back({.last = count - 1});
    out_.owner.assign(count, 0);
    out_.joined.assign(count, 0);
    for (uint32_t n = 0; n < count; ++n) {
      while (out_.all[open_.back()].last < n) open_.pop_back();
      if (f_.graph->blocks[n].merge == MergeKind::loop && !loop(n)) return std::nullopt;
      out_.owner[n] = open_.back();
      if (f_.graph->blocks[n].merge == MergeKind::selection && !selection(n)) return std::nullopt;
    }
    for (size_t c = 1; c < out_.all.size(); ++c) out_.all[c].closed = out_.all[c].closed && is_closed(out_.all[c]);
    return std::move(out_);
  }

 private:
  bool push(Construct construct) {
    construct.parent = open_.back();
    if (construct.last > out_.all[open_.back()].last) return false;
    open_.push_back(static_cast<uint32_t>(out_.all.size()));
    out_.all.push_back(construct);
    return true;
  }

  bool loop(uint32_t n) {
    const auto& predecessors = f_.blocks[n].predecessors;
    Construct c{
        .kind = Construct::Kind::loop, .head = n, .first = n, .last = n, .join = f_.graph->blocks[n].merge_block};
    uint32_t entries = 0, backs = 0;
    for (uint32_t i = 0; i < predecessors.size(); ++i) {
      const bool back = predecessors[i] >= n;
      (back ? c.back : c.entry) = i;
      ++(back ? backs : entries);
      c.last = std::max(c.last, predecessors[i]);
    }
    c.closed = entries == 1 && backs == 1;
    return push(c);
  }

  bool selection(uint32_t n) {
    const uint32_t join = f_.graph->blocks[n].merge_block;
    const auto vote = vote_of(f_, n);
    // Lanes that would leave a loop around it are none that only miss something.
    if (!vote || vote->to <= n || vote->to >= join) return true;
    Construct c{.kind = Construct::Kind::selection,
                .head = n,
                .first = n + 1,
                .last = join - 1,
                .join = join,
                .lanes = vote->lanes,
                .skip = n};
    // The other way may pass blocks that do nothing.
    for (uint32_t b = vote->past; b != join; b = f_.graph->blocks[b].targets[0]) {
      if (b <= c.skip || b > c.last || !does_nothing(b)) return true;
      c.skip = b;
    }
    out_.joined[join] = static_cast<uint32_t>(out_.all.size());
    return push(c);
  }

  bool does_nothing(uint32_t b) const {
    return f_.blocks[b].phis.empty() && f_.blocks[b].body.empty() && f_.blocks[b].predecessors.size() == 1 &&
           f_.graph->blocks[b].terminator == TerminatorKind::jump && f_.graph->blocks[b].merge == MergeKind::none;
  }

  bool is_closed(const Construct& c) const {
    for (uint32_t b = c.first; b <= c.last; ++b) {
      for (const uint32_t p : f_.blocks[b].predecessors) {
        const bool enters = c.kind == Construct::Kind::loop ? b == c.head : p == c.head;
        if (!c.holds(p) && !enters) return false;
      }
      for (const uint32_t t : f_.graph->blocks[b].targets)
        if (!c.holds(t) && t != c.join) return false;
      if (f_.graph->blocks[b].terminator == TerminatorKind::end) return false;
    }
    if (c.kind == Construct::Kind::loop) return true;
    return std::ranges::all_of(f_.blocks[c.join].predecessors, [&](uint32_t p) { return c.holds(p) || p == c.head; });
  }

  const ir::Function& f_;
  Constructs out_;
  std::vector<uint32_t> open_{0};
};

}  // namespace

std::optional<Constructs> find_constructs(const ir::Function& f) { return Finder(f).run(); }

}  // namespace orrery::shader::passes
