#include "tests/gpu-service/shader/cfg/guest_program.hpp"

namespace orrery::shader::cfg::test {
namespace {

constexpr Opcode kConditional[] = {Opcode::s_cbranch_scc0,  Opcode::s_cbranch_scc1,  Opcode::s_cbranch_vccz,
                                   Opcode::s_cbranch_vccnz, Opcode::s_cbranch_execz, Opcode::s_cbranch_execnz};

uint32_t below(std::mt19937& random, uint32_t bound) { return static_cast<uint32_t>(random() % bound); }

// Writes nested statements; a branch to a label that does not exist yet is patched.
class Nested {
 public:
  explicit Nested(std::mt19937& random) : random_(random) {}

  std::vector<TestBlock> make(uint32_t size) {
    budget_ = size;
    while (budget_ > 0) statement(0);
    blocks_.push_back({1, Opcode::s_endpgm, 0});
    return std::move(blocks_);
  }

 private:
  struct LoopLabels {
    uint32_t head;
    std::vector<uint32_t> breaks, continues;
  };

  Opcode condition() { return kConditional[below(random_, 6)]; }
  uint32_t next() const { return static_cast<uint32_t>(blocks_.size()); }
  uint32_t emit(TestBlock block) {
    if (budget_ > 0) --budget_;
    blocks_.push_back(block);
    return next() - 1;
  }

  void statements(uint32_t depth) {
    for (uint32_t count = 1 + below(random_, 3); count > 0 && budget_ > 0; --count) statement(depth);
  }

  void statement(uint32_t depth) {
    const uint32_t kind = depth > 6 ? 0 : below(random_, 8);
    if (kind <= 1) {
      emit({1 + below(random_, 2), Opcode::invalid, 0});
    } else if (kind <= 3) {
      const uint32_t test = emit({below(random_, 2), condition(), 0});
      statements(depth + 1);
      blocks_[test].target = next();
    } else if (kind == 4) {
      const uint32_t test = emit({1, condition(), 0});
      statements(depth + 1);
      const uint32_t skip = emit({1, Opcode::s_branch, 0});
      blocks_[test].target = next();
      statements(depth + 1);
      blocks_[skip].target = next();
    } else if (kind == 5 || loops_.empty()) {
      loop(depth);
    } else if (kind == 6) {
      loops_.back().breaks.push_back(emit({below(random_, 2), condition(), 0}));
    } else {
      loops_.back().continues.push_back(emit({below(random_, 2), condition(), 0}));
    }
  }

  void loop(uint32_t depth) {
    // Compilers keep the headers of two loops apart.
    if (!loops_.empty() && loops_.back().head == next()) emit({1, Opcode::invalid, 0});
    loops_.push_back({next(), {}, {}});
    const bool tested_first = below(random_, 2) == 0;
    if (tested_first) loops_.back().breaks.push_back(emit({1, condition(), 0}));
    statements(depth + 1);
    const uint32_t latch = emit({1, tested_first ? Opcode::s_branch : condition(), loops_.back().head});
    for (uint32_t at : loops_.back().continues) blocks_[at].target = latch;
    for (uint32_t at : loops_.back().breaks) blocks_[at].target = next();
    loops_.pop_back();
  }

  std::mt19937& random_;
  std::vector<TestBlock> blocks_;
  std::vector<LoopLabels> loops_;
  uint32_t budget_ = 0;
};

}  // namespace

Program make_program(const std::vector<TestBlock>& blocks) {
  Program program;
  std::vector<uint32_t> starts, branches, targets;
  uint32_t offset = 0;
  auto add = [&](Opcode opcode) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.offset = offset;
    offset += instruction.size;
    program.instructions.push_back(instruction);
  };
  for (const TestBlock& block : blocks) {
    starts.push_back(offset);
    for (uint32_t i = 0; i < block.instructions; ++i) add(Opcode::s_nop);
    if (block.terminator == Opcode::invalid) continue;
    add(block.terminator);
    if (block.terminator == Opcode::s_endpgm) continue;
    Instruction& last = program.instructions.back();
    const Operand link{.kind = OperandKind::sgpr, .dwords = 2, .index = 30};
    if (block.terminator == Opcode::s_call_b64) last.destination = link;
    if (block.terminator == Opcode::s_setpc_b64) last.sources[0] = link;
    if (block.terminator == Opcode::s_setpc_b64) continue;
    branches.push_back(static_cast<uint32_t>(program.instructions.size() - 1));
    targets.push_back(block.target);
  }
  for (size_t i = 0; i < branches.size(); ++i) {
    Instruction& branch = program.instructions[branches[i]];
    branch.immediate = (static_cast<int32_t>(starts[targets[i]]) - static_cast<int32_t>(branch.offset) - 4) / 4;
  }
  program.extent = offset;
  return program;
}

std::vector<TestBlock> random_blocks(std::mt19937& random, Shape shape, uint32_t size) {
  if (shape == Shape::nested || shape == Shape::mostly_nested) {
    std::vector<TestBlock> blocks = Nested(random).make(size);
    if (shape == Shape::nested) return blocks;
    for (uint32_t bends = 1 + below(random, 3); bends > 0; --bends) {
      TestBlock& block = blocks[below(random, static_cast<uint32_t>(blocks.size()))];
      if (block.terminator == Opcode::s_endpgm) continue;
      if (block.terminator == Opcode::invalid) block.terminator = kConditional[below(random, 6)];
      block.target = below(random, static_cast<uint32_t>(blocks.size()));
    }
    return blocks;
  }
  std::vector<TestBlock> blocks(size);
  for (uint32_t i = 0; i < size; ++i) {
    TestBlock& block = blocks[i];
    block.instructions = below(random, 3);
    const uint32_t kind = below(random, 10);
    const uint32_t low = shape == Shape::forward ? i + 1 : 0;
    if (i + 1 == size || kind == 0) {
      block.terminator = Opcode::s_endpgm;
    } else if (kind <= 2) {
      if (block.instructions == 0) block.instructions = 1;
    } else {
      block.terminator = kind <= 4 ? Opcode::s_branch : kConditional[below(random, 6)];
      block.target = low + below(random, size - low);
    }
  }
  return blocks;
}

}  // namespace orrery::shader::cfg::test
