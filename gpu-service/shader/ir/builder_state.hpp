// Builder's insides: value numbering within a block and SSA construction over the graph ("Simple and Efficient
// Construction of Static Single Assignment Form", Braun et al. 2013), without recursion so that a chain of a million
// blocks cannot overflow the stack.
#pragma once

#include <unordered_map>

#include "gpu-service/shader/ir/builder.hpp"

namespace orrery::shader::ir {

// Variables of SSA construction.
enum : uint32_t {
  kVarVgpr = 0,      // 256: the register's 32 bits, any 32-bit type
  kVarNumber = 256,  // 128: SGPR as a number
  kVarMask = 384,    // 128: SGPR (pair, by its even register) as a lane mask
  kVarScc = 512,
  kVarRoute = 513,
};

struct Builder::State {
  State(Builder& owner, const Program& program_in, const LoopWrites& known);

  Builder& builder;
  Function& f;
  const Program& program;
  uint32_t block = 0;
  bool elsewhere = false;  // adding to the end of a complete block: nothing is numbered

  // Value numbering: entries of older epochs are empty. Constants live in their own table, which is never cleared.
  struct Slot {
    uint32_t id = 0, epoch = 0;
  };
  std::vector<Slot> numbered, constants;
  uint32_t epoch = 1, constant_count = 0;
  uint32_t undefined_ids[8];

  // Definitions at the current end of each block: pages of 32 variables.
  static constexpr uint32_t kNone = ~0u, kDerived = ~0u - 1;  // kDerived: made from the register's other form when read
  uint32_t page_count = 0;
  std::vector<uint32_t> pages;
  std::vector<uint32_t> pool;
  std::vector<uint32_t> unfilled;  // predecessors that are not complete
  std::vector<uint32_t> stamps;    // targets seen: the block that named them, + 1
  struct Pending {
    uint32_t variable, phi;
  };
  std::unordered_map<uint32_t, std::vector<Pending>> incomplete;  // by block
  Value wave_exists;               // any thread of the wave does; none: not asked for yet
  std::vector<uint32_t> prologue;  // what the entry state needs, in front of the entry block
  // Where a variable can be read past a join: nothing between the join and its immediate dominator writes it.
  struct Join {
    uint32_t dominator = kNone;  // kNone: not to be passed
    uint32_t last = 0;           // last block that lies between the dominator and the join (a loop: its last block)
  };
  std::vector<Join> joins;                     // by block
  std::vector<std::vector<uint32_t>> writers;  // by variable: blocks that write it, ascending
  // Loops, by their headers (find_joins tells which; none where they overlap).
  std::vector<uint32_t> loop_of;     // by block: header of the innermost loop around it, the header's own included
  std::vector<uint32_t> outer_loop;  // by header
  std::vector<uint32_t> loop_index;  // by header: row of the two tables
  uint32_t loop_count = 0;
  std::vector<uint32_t> loop_writes, passed_headers;  // bits: rows of page_count words, a bit per variable
  std::vector<uint8_t> passed_anywhere;               // by variable
  std::vector<LoopWrite> unforeseen;
  struct Frame {
    uint32_t block, phi, next;
  };
  std::vector<Frame> stack;

  uint32_t& definition(uint32_t variable, uint32_t in_block);
  Value resolve(Value v) const;
  Value read(uint32_t variable, uint32_t in_block);
  void write(uint32_t variable, uint32_t id) {
    definition(variable, block) = id;
    if (!writers[variable].empty() && writers[variable].back() == block) return;
    writers[variable].push_back(block);
    if (loop_count != 0 && passed_anywhere[variable]) check_passed(variable);
  }
  void write(uint32_t variable, Value v) { write(variable, v.id); }
  void find_joins();
  // The block whose end has the variable's value at the start of in_block; kNone when only a phi can tell.
  uint32_t passed(uint32_t variable, uint32_t in_block) const;
  void find_loop_writes(const LoopWrites& known);
  uint32_t passed_open(uint32_t variable, uint32_t header);
  void check_passed(uint32_t variable);
  // Makes the value of a variable whose definition in the block is kDerived.
  Value derive(uint32_t variable, uint32_t in_block);
  Value initial(uint32_t variable);
  Value stage_initial(uint32_t variable);
  uint32_t make_phi(uint32_t variable, uint32_t in_block);
  // All operands known: a phi of one value becomes a copy of it.
  Value close_phi(uint32_t phi);
  Value as_variable(uint32_t variable, Value v, uint32_t in_block);

  void rewrite();

  Value undefined(Type type);
  Value constant(Type type, uint64_t bits);
  // Adds to the end of any block.
  Value append(uint32_t in_block, Op op, Type type, std::span<const Value> args, uint32_t imm);
  Value make(Op op, Type type, std::span<const Value> args, uint32_t imm, uint32_t in_block);
  bool bits(Value v, uint64_t& out) const;
};

// The value an operation has without being emitted (a constant, an operand, a simpler operation), or none.
Value simplify(Builder& b, const Function& f, Op op, Type type, std::span<const Value> args, uint32_t imm);
}  // namespace orrery::shader::ir
