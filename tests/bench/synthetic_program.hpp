// Programs of a chosen size for timing the translator, as gfx10.3 words.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery::bench {

// `instructions` float and integer operations on vector registers, then a store of one of them.
std::vector<uint32_t> straight_line(uint32_t instructions);
// `depth` nested ifs (compare, saveexec, branch, a few operations, restore), then a store.
std::vector<uint32_t> nested_ifs(uint32_t depth, uint32_t operations_each);

}  // namespace orrery::bench
