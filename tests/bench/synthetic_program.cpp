#include "tests/bench/synthetic_program.hpp"

#include <cstddef>

namespace orrery::bench {
namespace {

// Encodings: AMD "RDNA 2" ISA document, chapter 13.
constexpr uint32_t kVgpr = 256, kVcc = 106, kExec = 126;
uint32_t vop2(uint32_t op, uint32_t d, uint32_t src0, uint32_t src1) { return op << 25 | d << 17 | src1 << 9 | src0; }
uint32_t vopc(uint32_t op, uint32_t src0, uint32_t src1) { return 0x7c000000 | op << 17 | src1 << 9 | src0; }
uint32_t sop1(uint32_t op, uint32_t d, uint32_t s) { return 0xbe800000 | d << 16 | op << 8 | s; }
uint32_t sop2(uint32_t op, uint32_t d, uint32_t s0, uint32_t s1) {
  return 0x80000000 | op << 23 | d << 16 | s1 << 8 | s0;
}
uint32_t sopc(uint32_t op, uint32_t s0, uint32_t s1) { return 0xbf000000 | op << 16 | s1 << 8 | s0; }
uint32_t sopp(uint32_t op, uint32_t imm) { return 0xbf800000 | op << 16 | (imm & 0xffff); }
constexpr uint32_t kAddF32 = 3, kMulF32 = 8, kAddU32 = 37, kXor = 29, kLshl = 26;
constexpr uint32_t kCmpLtU32 = 0xc1, kAndSaveexecB32 = 0x3c, kOrB32 = 0x10, kCbranchExecz = 8, kEndpgm = 1;
constexpr uint32_t kScalarCmpLtU32 = 10, kCbranchScc0 = 4, kInlineZero = 128;
// Nested deeper than there are SGPRs for saved masks, levels test a scalar.
constexpr uint32_t kMasks = 96, kTested = 100;

void operation(std::vector<uint32_t>& words, uint32_t i) {
  const uint32_t d = 1 + i % 24, a = 1 + (i * 7 + 3) % 24, b = 1 + (i * 5 + 11) % 24;
  constexpr uint32_t kOps[] = {kAddF32, kMulF32, kAddU32, kXor, kLshl};
  words.push_back(vop2(kOps[i % 5], d, kVgpr + a, b));
}

// Stores v1 at the 64-bit address in v[2:3] plus nothing: keeps the arithmetic alive.
void finish(std::vector<uint32_t>& words) {
  words.push_back(0xdc708000);  // global_store_dword v[2:3], v1, off
  words.push_back(0x007d0102);
  words.push_back(sopp(kEndpgm, 0));
}

}  // namespace

std::vector<uint32_t> straight_line(uint32_t instructions) {
  std::vector<uint32_t> words;
  for (uint32_t i = 0; i < instructions; ++i) operation(words, i);
  finish(words);
  return words;
}

std::vector<uint32_t> nested_ifs(uint32_t depth, uint32_t operations_each) {
  std::vector<uint32_t> words;
  std::vector<size_t> branches;
  // Every register a number of its own: compares of registers that were never written would fold.
  for (uint32_t v = 1; v <= 24; ++v) words.push_back(vop2(kAddU32, v, kInlineZero + v, 0));
  for (uint32_t level = 0; level < depth; ++level) {
    if (level < kMasks) {
      words.push_back(vopc(kCmpLtU32, kVgpr + 1 + level % 24, 1 + (level + 5) % 24));
      words.push_back(sop1(kAndSaveexecB32, level, kVcc));
    } else {
      words.push_back(sopc(kScalarCmpLtU32, kTested, kInlineZero + level % 64));
    }
    branches.push_back(words.size());
    words.push_back(0);
    for (uint32_t i = 0; i < operations_each; ++i) operation(words, level + i);
  }
  for (uint32_t level = depth; level-- > 0;) {
    const size_t at = branches[level];
    words[at] = sopp(level < kMasks ? kCbranchExecz : kCbranchScc0, static_cast<uint32_t>(words.size() - at - 1));
    if (level < kMasks) words.push_back(sop2(kOrB32, kExec, kExec, level));
    for (uint32_t i = 0; i < operations_each; ++i) operation(words, level * 3 + i);
  }
  finish(words);
  return words;
}

}  // namespace orrery::bench
