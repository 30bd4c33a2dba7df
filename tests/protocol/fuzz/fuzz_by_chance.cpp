// Runs a fuzz target without libFuzzer: its seeds, changed at random by a fixed sequence. For the tests, and for
// sanitizers of compilers that have no libFuzzer.
//   PROGRAM [ROUNDS [SEED]]        PROGRAM --seeds FOLDER   writes the seeds there
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "fuzz_target.hpp"

namespace {

std::vector<uint8_t> changed(std::vector<uint8_t> input, std::mt19937_64& random) {
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  for (size_t changes = 1 + below(6); changes != 0; --changes) {
    if (input.empty()) input.push_back(0);
    const size_t at = below(input.size());
    switch (below(6)) {
      case 0:
        input[at] = static_cast<uint8_t>(random());
        break;
      case 1:
        input[at] ^= static_cast<uint8_t>(1u << below(8));
        break;
      case 2:  // an extreme word
        for (size_t i = at; i < std::min(input.size(), at + 8); ++i) input[i] = below(2) == 0 ? 0xff : 0;
        break;
      case 3:
        input.resize(at + 1);
        break;
      case 4:
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), 1 + below(16), static_cast<uint8_t>(random()));
        break;
      default: {
        const size_t from = below(input.size()), some = std::min(input.size() - std::max(from, at), 1 + below(16));
        std::memmove(input.data() + at, input.data() + from, some);
      }
    }
  }
  return input;
}

}  // namespace

int main(int count, char** words) {
  const auto seeds = fuzz_seeds();
  if (count == 3 && std::string(words[1]) == "--seeds") {
    for (size_t i = 0; i < seeds.size(); ++i) {
      std::ofstream out(std::string(words[2]) + "/seed-" + std::to_string(i), std::ios::binary);
      out.write(reinterpret_cast<const char*>(seeds[i].data()), static_cast<std::streamsize>(seeds[i].size()));
      if (!out) return 1;
    }
    return 0;
  }
  const unsigned long rounds = count > 1 ? std::strtoul(words[1], nullptr, 10) : 20000;
  std::mt19937_64 random(count > 2 ? std::strtoul(words[2], nullptr, 10) : 1);
  for (const auto& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  for (unsigned long i = 0; i < rounds; ++i) {
    const auto input = changed(seeds[random() % seeds.size()], random);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%lu inputs\n", rounds + seeds.size());
  return 0;
}
