// Control flow of a program as blocks that map one to one onto SPIR-V blocks: every selection and loop is structured,
// extra routing variables and blocks are made where the guest's graph is not. SSA construction runs over this graph
// afterwards.
#pragma once

#include <cstdint>
#include <expected>
#include <vector>

#include "gpu-service/shader/translate.hpp"

namespace orrery::shader::cfg {

inline constexpr uint32_t kNoBlock = ~0u;

// What a two-way branch tests, read at the end of its block.
enum class Condition : uint8_t { scc0, scc1, vccz, vccnz, execz, execnz };

enum class TerminatorKind : uint8_t {
  jump,    // to targets[0]
  branch,  // guest condition: true -> targets[0], false -> targets[1]
  route,   // switch on routing variable `route`: values[i] -> targets[i]; targets has one more, the default
  end,     // s_endpgm: the wave ends. Also ends the empty, unreachable block that stands for a merge nobody reaches
};

enum class MergeKind : uint8_t { none, selection, loop };

struct RouteAssignment {
  uint32_t route = 0;
  uint32_t value = 0;
};

struct StructuredBlock {
  // Guest instructions program.instructions[first .. first + count), branches excluded.
  uint32_t first = 0, count = 0;
  std::vector<RouteAssignment> assignments;  // made at the end of the block, before the terminator
  TerminatorKind terminator = TerminatorKind::end;
  Condition condition = Condition::scc0;
  uint32_t route = 0;
  std::vector<uint32_t> values;  // route only: distinct; targets of several values may be equal
  std::vector<uint32_t> targets;
  MergeKind merge = MergeKind::none;  // OpSelectionMerge / OpLoopMerge in front of the terminator
  uint32_t merge_block = kNoBlock;
  uint32_t continue_block = kNoBlock;
};

struct StructuredGraph {
  // blocks[0] is the entry and no branch's target; order is valid for SPIR-V (a block behind its dominators). A branch
  // whose targets all leave or continue the innermost loop has no merge; every other branch and route has one.
  std::vector<StructuredBlock> blocks;
  uint32_t routes = 0;      // number of routing variables; one is undefined until a block on the way assigns it
  bool dispatcher = false;  // an irreducible or untraceable part runs through a dispatcher loop
};

// Builds the structured graph. Refusals: a branch out of the program or into the middle of an instruction, a computed
// jump whose targets are not known, a program that runs off its end. Linear in instructions and blocks.
std::expected<StructuredGraph, std::vector<ShaderRefusal>> structure(const Program& program);

}  // namespace orrery::shader::cfg
