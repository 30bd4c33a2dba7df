// Compares our decoder with LLVM's over groups of words.
#pragma once

#include <map>

#include "tests/gpu-service/shader/decode/llvm_disassembler.hpp"

namespace orrery::shader::testing {

struct Comparison {
  size_t equal = 0;                                // same text and size
  size_t equal_cleared = 0;                        // LLVM refuses unused bits that are set; equal with them cleared
  size_t refused = 0;                              // by both
  std::map<std::string, size_t> known;             // reason -> count
  std::map<std::string, std::string> differences;  // first example by kind
  void add(const Comparison& other);
  std::string report() const;
};

Comparison compare(std::span<const WordGroup> groups, Target target, uint32_t wave);

}  // namespace orrery::shader::testing
