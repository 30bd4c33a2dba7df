// Programs of random instructions: whatever they hold, a run ends, with or without a refusal, and touches only its
// memory.
#include <gtest/gtest.h>
#include <random>
#include <set>

#include "tests/gpu-service/shader/interpret/assembled.hpp"
#include "tests/gpu-service/shader/interpret/host_bytes.hpp"

namespace orrery::shader::testing {
namespace {

constexpr uint32_t kPrefixes[] = {0x32, 0x33, 0x35, 0x35, 0x36, 0x37, 0x38, 0x3a, 0x3c,
                                  0x3d, 0x20, 0x28, 0x2c, 0x2e, 0x2f, 0x1f, 0x1e, 0x10};

// A random instruction that the interpreter has semantics for.
std::vector<uint32_t> random_instruction(std::mt19937& random) {
  for (;;) {
    std::vector<uint32_t> words{static_cast<uint32_t>(random()), static_cast<uint32_t>(random()),
                                static_cast<uint32_t>(random()), 0, 0};
    words[0] = (words[0] & 0x3ffffff) | kPrefixes[random() % std::size(kPrefixes)] << 26;
    if (random() % 3 == 0) {
      words[0] &= ~0x10000u;
      words[1] &= 0x7f3f3f3f;
    }
    const auto instruction = decode(words, 0);
    if (instruction && interpret::supports(*instruction)) {
      words.resize(instruction->size / 4u);
      return words;
    }
  }
}

TEST(InterpretedPrograms, random_instructions_end_and_stay_in_their_memory) {
  std::mt19937 random(5);
  std::set<Opcode> seen;
  std::vector<uint32_t> memory(4096);
  for (int round = 0; round < 1500; ++round) {
    std::vector<uint32_t> words;
    for (int i = 0; i < 24; ++i) {
      const auto instruction = random_instruction(random);
      words.insert(words.end(), instruction.begin(), instruction.end());
    }
    words.push_back(0xbf810000);
    const auto program = read_program([&](uint32_t offset, uint32_t dwords) {
      const size_t first = offset / 4;
      return first < words.size() ? std::span(words).subspan(first, std::min<size_t>(dwords, words.size() - first))
                                  : std::span<uint32_t>{};
    });
    if (!program) {
      continue;  // a branch out of it
    }
    for (const Instruction& instruction : program->instructions) {
      seen.insert(instruction.opcode);
    }
    interpret::Dispatch dispatch;
    dispatch.program = &*program;
    dispatch.program_address = reinterpret_cast<uint64_t>(words.data());
    dispatch.wave = round % 2 == 0 ? 32 : 64;
    dispatch.rsrc1 = static_cast<uint32_t>(random());
    dispatch.rsrc2 = static_cast<uint32_t>(random());
    dispatch.scratch_dwords = 16;
    for (uint32_t& value : dispatch.user_data) {
      value = static_cast<uint32_t>(random());
    }
    const auto base = reinterpret_cast<uint64_t>(memory.data());
    for (unsigned i = 0; i < 16; i += 4) {
      dispatch.user_data[i] = static_cast<uint32_t>(base);
      dispatch.user_data[i + 1] = static_cast<uint32_t>(base >> 32) & 0xffff;
    }
    dispatch.group_size = {70, 1, 1};
    dispatch.step_limit = 3000;
    HostBytes bytes;
    bytes.add(memory.data(), memory.size() * 4);
    bytes.add(words.data(), words.size() * 4);
    const auto outcome = interpret::run(dispatch, bytes);
    EXPECT_LE(outcome.steps, dispatch.step_limit);
  }
  EXPECT_GT(seen.size(), 700u);
}

}  // namespace
}  // namespace orrery::shader::testing
