// LLVM's disassembler as the decoder's oracle: groups of words in, one line of text per instruction out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu-service/shader/decode/decoder.hpp"

namespace orrery::shader::testing {

using WordGroup = std::vector<uint32_t>;

// What llvm-mc prints for each group; a group ends early at the first word LLVM refuses.
std::vector<std::vector<std::string>> llvm_disassemble(std::span<const WordGroup> groups, Target target, uint32_t wave);

// The same by our decoder.
std::vector<std::string> our_disassemble(std::span<const uint32_t> words, Target target, uint32_t wave);

// LLVM's text without encoding suffix and without its remarks on invalid operands.
std::string plain(std::string llvm_text);
// Whether LLVM itself says that the operands are not valid for the instruction.
bool llvm_doubts(const std::string& llvm_text);

// The words with every bit cleared that our decoder does not look at.
WordGroup without_unused_bits(std::span<const uint32_t> words, Target target, uint32_t wave);

}  // namespace orrery::shader::testing
