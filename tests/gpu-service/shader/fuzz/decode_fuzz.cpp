// libFuzzer: any dwords as instructions of either target, and their text.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "gpu-service/shader/decode/decoder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::shader;
  std::vector<uint32_t> words(size / 4);  // exactly as long as the input: reading behind it is found
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * 4);
  for (const Target target : {Target::gfx1013, Target::gfx1030}) {
    for (size_t at = 0; at < words.size(); ++at) {
      const auto instruction = decode(std::span(words).subspan(at), static_cast<uint32_t>(at * 4), target);
      if (!instruction) {
        if (instruction.error().reason.empty()) std::abort();
        continue;
      }
      if (instruction->size == 0 || instruction->size % 4 != 0 || instruction->size / 4u > words.size() - at) {
        std::abort();
      }
      for (const uint32_t wave : {32u, 64u}) {
        if (to_text(*instruction, wave).empty()) std::abort();
      }
    }
  }
  return 0;
}
