// Mutations that keep dwords whole: bytes shifted by one make nothing but reserved encodings.
#include <cstdint>
#include <cstring>
#include <random>

#include "tests/gpu-service/shader/fuzz/fuzz_input.hpp"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  using orrery::shader::fuzz::kHeaderBytes;
  std::minstd_rand random(seed);
  if (size < kHeaderBytes + 8 || random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  const auto below = [&](size_t n) { return random() % n; };
  if (below(16) == 0) {
    data[below(kHeaderBytes)] = static_cast<uint8_t>(random());
    return size;
  }
  size_t words = (size - kHeaderBytes) / 4;
  uint8_t* const code = data + kHeaderBytes;
  const auto get = [&](size_t at) {
    uint32_t word = 0;
    std::memcpy(&word, code + at * 4, 4);
    return word;
  };
  const auto set = [&](size_t at, uint32_t word) { std::memcpy(code + at * 4, &word, 4); };
  const size_t at = below(words);
  switch (below(7)) {
    case 0:  // one bit
      set(at, get(at) ^ 1u << below(32));
      break;
    case 1:  // an operand or an opcode field
      set(at, get(at) ^ static_cast<uint32_t>(random() & 0x1ff) << below(24));
      break;
    case 2:  // a word from elsewhere
      set(at, get(below(words)));
      break;
    case 3: {  // s_branch, s_cbranch_*: SOPP with a short way
      const auto distance = static_cast<uint16_t>(static_cast<int>(below(64)) - 32);
      set(at, 0xbf820000u + (static_cast<uint32_t>(below(10)) << 16) + distance);
      break;
    }
    case 4: {  // a run of words doubled
      const size_t count = std::min({1 + below(8), words - at, (most - kHeaderBytes) / 4 - words});
      std::memmove(code + (at + count) * 4, code + at * 4, (words - at) * 4);
      words += count;
      break;
    }
    case 5: {  // a run of words dropped
      const size_t count = std::min(1 + below(8), words - at);
      if (count == words) break;
      std::memmove(code + at * 4, code + (at + count) * 4, (words - at - count) * 4);
      words -= count;
      break;
    }
    default:
      set(at, static_cast<uint32_t>(random()) * 2654435761u);
      break;
  }
  return kHeaderBytes + words * 4;
}
