// Guest programs for control-flow tests: blocks of s_nop with a terminator each, laid out one behind the other.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "gpu-service/shader/translate.hpp"

namespace orrery::shader::cfg::test {

struct TestBlock {
  uint32_t instructions = 1;
  Opcode terminator = Opcode::invalid;  // invalid: falls through to the next block
  uint32_t target = 0;                  // block, for branches and s_call_b64 s[30:31]; s_setpc_b64 s[30:31] returns
};

Program make_program(const std::vector<TestBlock>& blocks);

enum class Shape : uint8_t { any, forward, nested, mostly_nested };
// `any`: branches anywhere. `forward`: no loops, overlapping early exits. `nested`: ifs and loops with breaks and
// continues as a compiler makes them. `mostly_nested`: nested with a few branches bent.
std::vector<TestBlock> random_blocks(std::mt19937& random, Shape shape, uint32_t size);

}  // namespace orrery::shader::cfg::test
