// Word groups for the comparison with LLVM: uniformly random, and random within every encoding.
#pragma once

#include <random>

#include "tests/gpu-service/shader/decode/llvm_disassembler.hpp"

namespace orrery::shader::testing {

// Three random words and some s_nop, so that any instruction's size shows in what follows it.
WordGroup random_group(std::mt19937_64& random, Target target);

}  // namespace orrery::shader::testing
