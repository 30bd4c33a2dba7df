#include "tests/gpu-service/shader/decode/random_words.hpp"

#include <iterator>

namespace orrery::shader::testing {
namespace {

// Bits 31:26 of the encodings, the rarer and richer ones more often.
constexpr uint32_t kPrefixes[] = {0x32, 0x33, 0x35, 0x35, 0x35, 0x36, 0x37, 0x37, 0x38, 0x3a, 0x3c,
                                  0x3d, 0x3e, 0x20, 0x28, 0x2c, 0x2e, 0x2f, 0x1f, 0x1f, 0x1e, 0x10};
constexpr uint32_t kSpecialSources[] = {249, 250, 233, 234, 255};

// LLVM 19 crashes on reserved SDWA selectors; words behind the first must not be SDWA at all.
uint32_t not_sdwa(uint32_t word) { return (word & 0x800001ff) == 0xf9 ? word ^ 1 : word; }

}  // namespace

WordGroup random_group(std::mt19937_64& random, Target target) {
  auto word0 = static_cast<uint32_t>(random());
  uint32_t word1 = not_sdwa(static_cast<uint32_t>(random()));
  const uint32_t word2 = not_sdwa(static_cast<uint32_t>(random()));
  const auto choice = static_cast<uint32_t>(random());
  if ((choice & 1) != 0) {
    word0 = (word0 & 0x3ffffff) | kPrefixes[(choice >> 1) % std::size(kPrefixes)] << 26;
  }
  // Sparse second words reach the forms whose unused fields LLVM wants clear.
  switch (choice >> 24 & 7) {
    case 0:
      word1 &= 0x7fffff;
      break;
    case 1:
      word0 &= ~0xffu;
      break;
    case 2:
      word0 = (word0 & ~0x1ffu) | kSpecialSources[(choice >> 8 & 255) % std::size(kSpecialSources)];
      break;
    case 3:
      word1 &= 0x03ffffff;
      break;
    case 4:
      word1 = 0;
      break;
    case 5:
      word1 &= 0x1f1f3f3f;
      break;
    default:
      break;
  }
  WordGroup group{word0, not_sdwa(word1), word2, 0xbf800001, 0xbf800002, 0xbf800003, 0xbf800004};
  const auto first = decode(group, 0, target);
  if (!first && first.error().reason.find("reserved SDWA") != std::string::npos) {
    group[0] = 0xbf800000;
  }
  return group;
}

}  // namespace orrery::shader::testing
