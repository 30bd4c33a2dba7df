// Samples and gathers with random descriptors of every kind, equal to the interpreter bit for bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gpu-service/shader/image/random_images.hpp"

namespace orrery::shader::image_test {
namespace {

struct Case {
  const char* name;
  const char* operands;  // behind the destination v[40:47]: addresses in v8..v23
  const char* processor = "gfx1013";
  const char* destination = "v[40:43]";
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name << " " << c.operands; }
};

std::string difference_of(const Case& c, uint32_t seed, bool both_widths = false, bool whole_wave = false) {
  const std::string text = fmt::format("{} {}, {}", c.name, c.destination, c.operands);
  RandomImages images(seed, text, c.processor);
  RoundsProgram p{.body = text, .rounds = {}, .input = {}, .texels = RandomImages::texels(seed)};
  for (int n = 0; n < 40; ++n) p.rounds.push_back(images.round());
  p.input = [&](size_t round, uint32_t, auto input) { images.input(round, input); };
  MemoryProgram program = rounds_program(p);
  program.processor = c.processor;
  program.both_widths = both_widths;
  program.whole_wave = whole_wave;
  return memory_test::difference(program);
}

class Samples : public testing::TestWithParam<Case> {};

TEST_P(Samples, are_equal_to_the_interpreter_bit_for_bit) {
  const uint32_t seed = static_cast<uint32_t>(std::hash<std::string_view>()(GetParam().name));
  EXPECT_EQ(difference_of(GetParam(), seed), "");
}

// Behind the addresses, which lie in v8 and what follows.
#define TS "s[20:27], s[28:31] dmask:0xf dim:SQ_RSRC_IMG_"
INSTANTIATE_TEST_SUITE_P(
    Levels, Samples,
    testing::Values(Case{"image_sample_l", "v[8:9], " TS "1D"}, Case{"image_sample_l", "v[8:10], " TS "2D"},
                    Case{"image_sample_l", "v[8:11], " TS "3D"}, Case{"image_sample_l", "v[8:11], " TS "CUBE"},
                    Case{"image_sample_l", "v[8:10], " TS "1D_ARRAY"},
                    Case{"image_sample_l", "v[8:11], " TS "2D_ARRAY"}, Case{"image_sample_lz", "v[8:9], " TS "2D"},
                    Case{"image_sample", "v[8:9], " TS "2D"}, Case{"image_sample_b", "v[8:10], " TS "2D"},
                    Case{"image_sample_cl", "v[8:10], " TS "2D"}, Case{"image_sample_b_cl", "v[8:12], " TS "3D"}));
INSTANTIATE_TEST_SUITE_P(Gradients, Samples,
                         testing::Values(Case{"image_sample_d", "v[8:10], " TS "1D"},
                                         Case{"image_sample_d", "v[8:13], " TS "2D"},
                                         Case{"image_sample_d", "v[8:16], " TS "3D"},
                                         Case{"image_sample_cd", "v[8:13], " TS "2D"},
                                         Case{"image_sample_d_cl", "v[8:14], " TS "2D"},
                                         Case{"image_sample_d_g16", "v[8:11], " TS "2D", "gfx1030"},
                                         Case{"image_sample_d_g16", "v[8:14], " TS "3D", "gfx1030"}));
INSTANTIATE_TEST_SUITE_P(
    Compares, Samples,
    testing::Values(Case{"image_sample_c_l", "v[8:11], " TS "2D"}, Case{"image_sample_c_lz", "v[8:11], " TS "2D_ARRAY"},
                    Case{"image_sample_c", "v[8:10], " TS "2D"}, Case{"image_sample_c_b", "v[8:11], " TS "2D"},
                    Case{"image_sample_c_cl", "v[8:11], " TS "2D"}, Case{"image_sample_c_d", "v[8:14], " TS "2D"},
                    Case{"image_sample_c_d_cl", "v[8:15], " TS "2D"}, Case{"image_sample_c_l_o", "v[8:12], " TS "2D"},
                    Case{"image_sample_c_lz_o", "v[8:11], " TS "2D"}, Case{"image_sample_c_d_o", "v[8:15], " TS "2D"}));
INSTANTIATE_TEST_SUITE_P(
    Offsets, Samples,
    testing::Values(Case{"image_sample_l_o", "v[8:11], " TS "2D"}, Case{"image_sample_lz_o", "v[8:11], " TS "3D"},
                    Case{"image_sample_o", "v[8:10], " TS "2D"}, Case{"image_sample_b_o", "v[8:11], " TS "2D"},
                    Case{"image_sample_d_o", "v[8:14], " TS "2D"}, Case{"image_sample_d_cl_o", "v[8:15], " TS "2D"}));
#define TG "s[20:27], s[28:31] dmask:0x"
INSTANTIATE_TEST_SUITE_P(Gathers, Samples,
                         testing::Values(Case{"image_gather4_lz", "v[8:9], " TG "1 dim:SQ_RSRC_IMG_2D"},
                                         Case{"image_gather4_lz", "v[8:10], " TG "2 dim:SQ_RSRC_IMG_2D_ARRAY"},
                                         Case{"image_gather4_l", "v[8:10], " TG "4 dim:SQ_RSRC_IMG_2D"},
                                         Case{"image_gather4_l", "v[8:11], " TG "8 dim:SQ_RSRC_IMG_CUBE"},
                                         Case{"image_gather4", "v[8:9], " TG "8 dim:SQ_RSRC_IMG_2D"},
                                         Case{"image_gather4_b", "v[8:10], " TG "1 dim:SQ_RSRC_IMG_2D"},
                                         Case{"image_gather4_cl", "v[8:10], " TG "1 dim:SQ_RSRC_IMG_2D"},
                                         Case{"image_gather4_c", "v[8:10], " TG "1 dim:SQ_RSRC_IMG_2D"},
                                         Case{"image_gather4_c_l", "v[8:11], " TG "1 dim:SQ_RSRC_IMG_2D"},
                                         Case{"image_gather4_c_lz_o", "v[8:11], " TG "1 dim:SQ_RSRC_IMG_2D"},
                                         Case{"image_gather4_lz_o", "v[8:10], " TG "4 dim:SQ_RSRC_IMG_2D"}));
INSTANTIATE_TEST_SUITE_P(
    Registers, Samples,
    testing::Values(
        Case{"image_sample_l", "[v8, v19, v12], " TS "2D", "gfx1013"},
        Case{"image_sample_d", "[v8, v19, v12, v9, v23, v10], " TS "2D"},
        Case{"image_sample_l", "v[8:9], " TS "2D a16"}, Case{"image_sample_l", "[v10, v8], " TS "3D a16"},
        Case{"image_sample_c_l_o", "v[8:11], " TS "2D a16"}, Case{"image_sample_d", "v[8:12], " TS "2D a16"},
        Case{"image_sample_d_cl_o_g16", "v[8:12], " TS "2D a16", "gfx1030"},
        Case{"image_sample_l", "v[8:10], " TS "2D d16", "gfx1013", "v[40:41]"},
        Case{"image_gather4_lz", "v[8:9], s[20:27], s[28:31] dmask:0x2 dim:SQ_RSRC_IMG_2D d16", "gfx1013", "v[40:41]"},
        Case{"image_sample_c_l", "v[8:11], " TS "2D d16", "gfx1013", "v[40:41]"},
        Case{"image_sample_l", "v[8:10], s[20:27], s[28:31] dmask:0xd dim:SQ_RSRC_IMG_2D d16", "gfx1013", "v[40:41]"},
        Case{"image_sample_l", "v[8:10], s[20:27], s[28:31] dmask:0xa dim:SQ_RSRC_IMG_2D", "gfx1013", "v[40:41]"},
        Case{"image_sample_l", "v[8:10], s[20:27], s[28:31] dmask:0x4 dim:SQ_RSRC_IMG_2D", "gfx1013", "v40"},
        Case{"image_sample_l", "v[8:10], " TS "2D tfe", "gfx1013", "v[40:44]"},
        Case{"image_sample_lz", "v[8:9], " TS "2D unorm"}, Case{"image_sample_l_o", "v[8:12], " TS "3D unorm"},
        Case{"image_gather4_lz", "v[8:9], s[20:27], s[28:31] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm"},
        Case{"image_sample_l", "v[8:10], s[20:27], s[28:31] dmask:0xf dim:SQ_RSRC_IMG_2D r128"}));

TEST(Images, are_sampled_in_wave64_and_in_a_wave_of_one_invocation) {
  EXPECT_EQ(difference_of({"image_sample_l", "v[8:10], " TS "2D"}, 90, true), "");
  EXPECT_EQ(difference_of({"image_gather4_l", "v[8:10], " TG "1 dim:SQ_RSRC_IMG_2D"}, 91, true), "");
  EXPECT_EQ(difference_of({"image_sample_l", "v[8:10], " TS "2D"}, 92, false, true), "");
}

}  // namespace
}  // namespace orrery::shader::image_test
