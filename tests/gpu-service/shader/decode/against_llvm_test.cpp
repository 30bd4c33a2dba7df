#include <gtest/gtest.h>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/gpu-service/shader/corpus/shader_corpus.hpp"
#include "tests/gpu-service/shader/decode/comparison.hpp"
#include "tests/gpu-service/shader/decode/random_words.hpp"

namespace orrery::shader::testing {
namespace {

size_t wanted_words() {
  const char* value = std::getenv("ORRERY_DECODER_WORDS");
  return value != nullptr ? std::strtoull(value, nullptr, 10) : 200'000;
}

TEST(DecoderAgainstLlvm, random_words_of_every_encoding_give_the_same_text_and_size) {
  std::mt19937_64 random(20);
  Comparison total;
  constexpr size_t kBatch = 25'000;
  uint32_t turn = 0;
  for (size_t done = 0; done < wanted_words(); done += kBatch, ++turn) {
    const Target target = (turn & 1) == 0 ? Target::gfx1013 : Target::gfx1030;
    std::vector<WordGroup> groups;
    for (size_t i = 0; i < kBatch; ++i) {
      groups.push_back(random_group(random, target));
    }
    total.add(compare(groups, target, (turn & 2) == 0 ? 32 : 64));
  }
  std::cout << total.report();
  EXPECT_TRUE(total.differences.empty());
  EXPECT_GT(total.equal, wanted_words() / 3);
}

TEST(DecoderAgainstLlvm, every_word_of_the_compiled_kernels_gives_the_same_text_and_size) {
  std::vector<WordGroup> groups[2];
  size_t files = 0;
  if (std::filesystem::exists(shader_corpus())) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(shader_corpus())) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".bin")) {
        continue;
      }
      ++files;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      std::vector<uint32_t> words(bytes.size() / 4);
      std::memcpy(words.data(), bytes.data(), words.size() * 4);
      const size_t wave = name.ends_with(".w64.bin") ? 1 : 0;
      for (std::span<const uint32_t> rest = words; !rest.empty();) {
        const auto instruction = decode(rest, 0);
        ASSERT_TRUE(instruction) << name << ": " << instruction.error().reason;
        groups[wave].emplace_back(rest.begin(), rest.begin() + instruction->size / 4);
        rest = rest.subspan(instruction->size / 4u);
      }
    }
  }
  if (files == 0) {
    GTEST_SKIP() << "no compiled kernels under " << shader_corpus() << ": build the target shader_corpus";
  }
  for (const size_t wave : {0u, 1u}) {
    const Comparison comparison = compare(groups[wave], Target::gfx1013, wave == 0 ? 32 : 64);
    std::cout << comparison.report();
    EXPECT_TRUE(comparison.differences.empty());
    EXPECT_EQ(comparison.refused, 0u);
  }
}

}  // namespace
}  // namespace orrery::shader::testing
