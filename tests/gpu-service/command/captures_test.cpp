// Command streams recorded on a console. The files are not part of this repository: without them the tests skip by
// name.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench_of_one_queue.hpp"
#include "gpu-service/command/pm4.hpp"
#include "tests/gpu-service/capture_files.hpp"

namespace orrery::command::test {
namespace {

using orrery::test::captures_folder;
using orrery::test::read_words;

// "register = 0x..." followed by "value = 0x...".
std::vector<std::pair<uint32_t, uint32_t>> read_expectations(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<std::pair<uint32_t, uint32_t>> expected;
  for (std::string line; std::getline(in, line);) {
    const auto equals = line.find("= 0x");
    if (equals == std::string::npos || line.starts_with('#')) continue;
    const auto value = static_cast<uint32_t>(std::stoull(line.substr(equals + 2), nullptr, 16));
    if (line.starts_with("register")) expected.emplace_back(value, 0);
    if (line.starts_with("value")) expected.back().second = value;
  }
  return expected;
}

size_t count_packets(const std::vector<uint32_t>& words) {
  size_t packets = 0, at = 0;
  while (at < words.size()) {
    at += decode_header(words[at]).total_dwords();
    ++packets;
  }
  EXPECT_EQ(at, words.size());
  return packets;
}

uint32_t register_value(const RegisterFile& banks, uint32_t index) {
  if (index >= kUconfigBase) return banks.uconfig[index - kUconfigBase];
  if (index >= kContextBase) return banks.context[index - kContextBase];
  return banks.sh[index - kShBase];
}

class Captures : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = captures_folder();
    if (folder_.empty()) GTEST_SKIP() << "no folder shared/captures beside the source tree";
  }
  std::filesystem::path folder_;
};

class Cube : public Captures, public testing::WithParamInterface<const char*> {};

TEST_P(Cube, the_stream_walks_to_its_last_dword_and_sets_the_registers_that_its_writer_named) {
  if (IsSkipped()) return;
  const auto words = read_words(folder_ / (std::string(GetParam()) + ".hex"));
  ASSERT_EQ(words.size(), 1052u);
  EXPECT_EQ(count_packets(words), 357u);
  // Depth 0x200080000 + 0x870000 ends where the payload begins; fence 0x200910000, readback 0x200930000 + 0x7e9000.
  Bench bench({{0x200080000, 0x1200000, 0, 0x33, 4}, {0x4001400000, 0x800000, 0x1200000, 0x33, 4}}, 0x1a00000);
  bench.run(words);
  ASSERT_EQ(bench.listener.retirements.size(), 1u);
  size_t draws = 0;
  for (const auto& refusal : bench.listener.refusals) {
    EXPECT_EQ(refusal.kind, "draw") << refusal.text;
    ++draws;
  }
  EXPECT_EQ(draws, 12u);
  const auto expected = read_expectations(folder_ / (std::string(GetParam()) + ".toml"));
  ASSERT_GE(expected.size(), 7u);
  for (const auto& [index, value] : expected) {
    EXPECT_EQ(register_value(*bench.processor.registers(0), index), value) << std::hex << index;
  }
  EXPECT_EQ(bench.u32(0x200910000), 0xbeefcafeu);
  // The clear colour arrives in the target and, by the copy behind the wait, in the readback buffer.
  EXPECT_EQ(bench.u32(0x4001400000), 0xff0d121fu);
  EXPECT_EQ(bench.u32(0x200930000 + 0x7e9000 - 4), 0xff0d121fu);
  EXPECT_EQ(bench.u32(0x200080000), 0x3f800000u);
}
INSTANTIATE_TEST_SUITE_P(Both, Cube, testing::Values("agc-gl-cube-fw1240-a", "agc-gl-cube-fw1240-b"),
                         [](const auto& info) { return info.param[19] == 'a' ? "untextured" : "textured"; });

class Primitive : public Captures, public testing::WithParamInterface<const char*> {};

TEST_P(Primitive, the_stream_walks_to_its_last_dword_and_its_fence_is_written) {
  if (IsSkipped()) return;
  const auto words = read_words(folder_ / (std::string(GetParam()) + ".hex"));
  ASSERT_EQ(words.size(), 473u);
  EXPECT_EQ(count_packets(words), 167u);
  Bench bench({{0x2000c0000, 0x40000, 0, 0x33, 4}}, 0x40000);
  bench.run(words);
  ASSERT_EQ(bench.listener.refusals.size(), 1u) << bench.refusals();
  EXPECT_EQ(bench.listener.refusals[0].kind, "draw");
  EXPECT_EQ(bench.u32(0x2000d0000), 0xbeefcafeu);
  EXPECT_EQ(bench.processor.registers(0)->context[0x318], 0x02000e00u);  // CB_COLOR0_BASE
}
INSTANTIATE_TEST_SUITE_P(Both, Primitive,
                         testing::Values("agc-primitive-draw-fw1240", "agc-primitive-draw-triangle-fw1240"),
                         [](const auto& info) { return std::string(info.param).size() < 30 ? "point" : "triangle"; });

TEST_F(Captures, the_one_builder_output_sets_its_register) {
  Bench bench;
  bench.run(read_words(folder_ / "agc-set-cx-register-direct.hex"));
  for (const auto& [index, value] : read_expectations(folder_ / "agc-set-cx-register-direct.toml")) {
    EXPECT_EQ(register_value(*bench.processor.registers(0), index), value);
  }
  EXPECT_EQ(bench.refusals(), "");
}

}  // namespace
}  // namespace orrery::command::test
