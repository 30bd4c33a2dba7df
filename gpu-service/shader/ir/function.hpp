// A program in SSA form over the structured graph. Plain arrays: an instruction is 20 bytes, its operands lie in one
// pool.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu-service/shader/cfg/structured_graph.hpp"
#include "gpu-service/shader/ir/memory.hpp"
#include "gpu-service/shader/ir/value.hpp"

namespace orrery::shader::ir {

struct Inst {
  Op op = Op::undefined;
  Type type = Type::none;
  bool per_lane = false;
  uint32_t count = 0;    // operands
  uint32_t first = 0;    // of the operands in the pool; constants: high 32 bits
  uint32_t imm = 0;      // index or immediate; constants: low 32 bits; memory: index of the Access
  uint32_t block = ~0u;  // block it is in; ~0 for constants and undefined values
};

struct Block {
  std::vector<uint32_t> phis;
  std::vector<uint32_t> body;          // in order
  std::vector<uint32_t> predecessors;  // as phi operands are ordered
  Value condition;                     // branch: b1 uniform, true -> targets[0]; route: u32 uniform
};

// A construct that each lane of an invocation with several goes through by itself: everything in it is per lane.
struct Apart {
  bool loop = false;
  uint32_t first = 0, last = 0;  // its blocks
  uint32_t head = 0;             // selection: the block that branches
  uint32_t skip = 0;             // selection: the join's predecessor on the way past it
  uint32_t join = 0;
};

struct Function {
  std::vector<Inst> insts;
  std::vector<Value> operands;
  std::vector<Access> accesses;
  std::vector<Block> blocks;  // parallel to graph->blocks
  const cfg::StructuredGraph* graph = nullptr;
  std::vector<DescriptorSource> bindings;  // of Space::buffer accesses
  // Of accesses to images, as far as they are known.
  std::vector<ImageSource> images;
  std::vector<DescriptorSource> samplers;
  std::vector<Apart> apart;  // ascending, none within another
  struct Computed {
    uint32_t instruction = 0;  // offset
    TraceEnd why = TraceEnd::lanes;
  };
  std::vector<Computed> computed;  // accesses through descriptors that are not traced

  bool is_apart(uint32_t block) const {
    for (const Apart& a : apart)
      if (block >= a.first && block <= a.last) return true;
    return false;
  }
  const Inst& at(Value v) const { return insts[v.id]; }
  Type type(Value v) const { return insts[v.id].type; }
  std::span<const Value> args(const Inst& inst) const { return {operands.data() + inst.first, inst.count}; }
  std::span<const Value> args(Value v) const { return args(insts[v.id]); }
  uint64_t constant_bits(const Inst& inst) const { return (static_cast<uint64_t>(inst.first) << 32) | inst.imm; }
};

// A constant of at least 2^-76 (f32): what is added to it, a product of two floats too, either cancels it or leaves no
// denormal: the lowest bit of such a product is worth 2^-48 of it.
bool is_large_addend(const Function& f, Value v);

// False: by the operations that make it, v (a float) is no denormal.
bool can_be_denormal(const Function& f, Value v, int depth = 4);

// x is false wherever y is (b1): shown by structure, to a limited depth.
bool implies(const Function& f, Value x, Value y, int depth = 6);

// The compare that holds where `op` does not, of the same operands; of swapped ones. Op::count: none.
Op inverse(Op op);
Op inverse_swapped(Op op);
// Conditions of which exactly one holds: one is the other's inot, or they are inverse compares of the same values.
bool are_opposite(const Function& f, Value x, Value y);

}  // namespace orrery::shader::ir
