// Joins that a variable's value passes unchanged. Deep nests make this matter: a value defined outside is read behind
// the innermost join without a phi at each join on the way.
#include <algorithm>

#include "gpu-service/shader/ir/builder_state.hpp"

namespace orrery::shader::ir {

// Any path from a join's immediate dominator to the join runs through blocks between the two (blocks are in an order
// with dominators in front), unless a loop that begins between them ends behind the join.
void Builder::State::find_joins() {
  const auto count = static_cast<uint32_t>(f.blocks.size());
  joins.assign(count, {});
  loop_of.assign(count, kNone);
  outer_loop.assign(count, kNone);
  loop_index.assign(count, 0);
  std::vector<uint32_t> latch(count, 0), dominator(count, kNone), loops;
  for (uint32_t n = 0; n < count; ++n)
    for (const uint32_t p : f.blocks[n].predecessors) latch[n] = std::max(latch[n], p >= n ? p : 0);
  auto is_loop = [&](uint32_t n) { return latch[n] != 0; };
  for (uint32_t n = 1; n < count; ++n) {
    while (!loops.empty() && latch[loops.back()] < n) loops.pop_back();
    uint32_t d = kNone;
    for (uint32_t p : f.blocks[n].predecessors) {
      if (p >= n || (p != 0 && dominator[p] == kNone)) continue;  // around the loop, or from nowhere
      if (d == kNone) d = p;
      while (d != p) (d > p ? d : p) = dominator[std::max(d, p)];
    }
    dominator[n] = d;
    if (d != kNone && f.blocks[n].predecessors.size() > 1 && (loops.empty() || loops.back() <= d)) {
      joins[n] = {d, is_loop(n) ? latch[n] : n - 1};
    }
    if (!loops.empty()) loop_of[n] = loops.back();
    if (!is_loop(n)) continue;
    if (!loops.empty() && latch[loops.back()] < latch[n]) {  // loops that overlap: no join is passed
      joins.assign(count, {});
      loop_of.assign(count, kNone);
      loop_count = 0;
      return;
    }
    if (!loops.empty()) outer_loop[n] = loops.back();
    loop_of[n] = n;
    loop_index[n] = loop_count++;
    loops.push_back(n);
  }
}

uint32_t Builder::State::passed(uint32_t variable, uint32_t in_block) const {
  const Join& join = joins[in_block];
  if (join.dominator == kNone) return kNone;
  const auto& blocks = writers[variable];
  const auto first = std::ranges::upper_bound(blocks, join.dominator);
  return first == blocks.end() || *first > join.last ? join.dominator : kNone;
}

}  // namespace orrery::shader::ir
