// The guest's own control flow: basic blocks as the program's branches make them, before structuring.
#pragma once

#include <cstdint>
#include <expected>
#include <vector>

#include "gpu-service/shader/cfg/structured_graph.hpp"

namespace orrery::shader::cfg {

struct Edge {
  uint32_t target = 0;
  std::vector<RouteAssignment> assignments;  // made when this edge is taken
  bool back = false;                         // to the header of a loop that holds the source (set with the loops)
};

struct GuestBlock {
  uint32_t first = 0, count = 0;  // program.instructions[first .. first + count), the terminator excluded
  TerminatorKind terminator = TerminatorKind::end;
  Condition condition = Condition::scc0;
  uint32_t route = 0;  // route: value i -> edges[i], the last edge is the default
  std::vector<Edge> edges;

  // Ends the wave without doing anything: may be repeated wherever that spares a detour.
  bool only_ends() const { return terminator == TerminatorKind::end && count == 0; }
};

struct GuestGraph {
  std::vector<GuestBlock> blocks;
  uint32_t entry = 0;
  uint32_t routes = 0;
};

// More blocks than this, or constructs nested deeper (SPIR-V's own limit is 1023), are refused.
inline constexpr uint32_t kMaxBlocks = 1u << 16;
inline constexpr uint32_t kMaxNesting = 1000;

// Every block is reachable from the entry. Refusals as structure().
std::expected<GuestGraph, std::vector<ShaderRefusal>> guest_graph(const Program& program);

}  // namespace orrery::shader::cfg
