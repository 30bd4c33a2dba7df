// Descriptors in user data: the module's specialization constants say what they say, and nothing changes but the speed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/image/random_images.hpp"

namespace orrery::shader::image_test {
namespace {

// One round whose T# lies in s[4:11] and S# in s[12:15].
std::string difference_with_constants(const std::string& instruction, uint32_t seed, bool both_widths,
                                      const std::string& before = "") {
  const auto in_registers = [&](std::string text) {
    for (const auto& [from, to] : {std::pair{"s[20:27]", "s[4:11]"}, std::pair{"s[28:31]", "s[12:15]"}}) {
      if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, std::string(from).size(), to);
    }
    return text;
  };
  RandomImages images(seed, instruction);
  RoundsProgram p{.body = before + in_registers(instruction), .rounds = {images.round()}, .input = {}, .texels = {}};
  p.texels = RandomImages::texels(seed);
  p.input = [&](size_t round, uint32_t, auto input) { images.input(round, input); };
  MemoryProgram program = rounds_program(p);
  program.both_widths = both_widths;
  for (uint32_t n = 0; n < 8; ++n) program.sgprs[4 + n] = p.rounds[0].image[n];
  for (uint32_t n = 0; n < 4; ++n) program.sgprs[12 + n] = p.rounds[0].sampler[n];
  return memory_test::difference(program);
}

#define TS "s[20:27], s[28:31] dmask:0xf dim:SQ_RSRC_IMG_"

TEST(ConstantDescriptors, of_samples_give_the_same_results) {
  const char* const instructions[] = {"image_sample_l v[40:43], v[8:10], " TS "2D",
                                      "image_sample_l v[40:43], v[8:11], " TS "3D",
                                      "image_sample_d v[40:43], v[8:13], " TS "2D",
                                      "image_sample_c_lz_o v[40:43], v[8:11], " TS "2D",
                                      "image_gather4_l v[40:43], v[8:11], s[20:27], s[28:31] dmask:0x2 "
                                      "dim:SQ_RSRC_IMG_2D_ARRAY",
                                      "image_sample_l v[40:43], v[8:11], " TS "CUBE"};
  for (uint32_t n = 0; n < 18; ++n) {
    const std::string text = instructions[n % std::size(instructions)];
    EXPECT_EQ(difference_with_constants(text, 1000 + n, n == 0), "") << text << " " << n;
  }
}

TEST(ConstantDescriptors, of_loads_and_stores_give_the_same_results) {
  for (uint32_t n = 0; n < 6; ++n) {
    for (const char* text : {"image_load_mip v[40:43], v[8:10], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D",
                             "image_get_resinfo v[40:43], v8, s[20:27] dmask:0xf dim:SQ_RSRC_IMG_3D"}) {
      EXPECT_EQ(difference_with_constants(text, 2000 + n, false), "") << text << " " << n;
    }
  }
  // Stores of a constant: lanes may meet in one texel.
  EXPECT_EQ(difference_with_constants("image_store v[20:21], v[8:9], s[20:27] dmask:0x3 dim:SQ_RSRC_IMG_2D", 2100, true,
                                      "v_mov_b32 v20, 0.5\nv_mov_b32 v21, 2.0\n"),
            "");
}

}  // namespace
}  // namespace orrery::shader::image_test
