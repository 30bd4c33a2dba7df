#include "gpu-service/present/frame_list.hpp"

#include <gtest/gtest.h>

namespace orrery::present::test {
namespace {

const Image kImage{2, 1, {0xff0000ff, 0xff00ff00}};

TEST(FrameList, what_was_written_is_read_again) {
  const std::string text = line_of(7, listed(kImage)) + line_of(12, listed({1, 1, {5}}));
  const auto frames = parse_frame_list(text);
  ASSERT_TRUE(frames);
  EXPECT_EQ(*frames, (FrameListing{{7, listed(kImage)}, {12, listed({1, 1, {5}})}}));
}

TEST(FrameList, one_other_bit_is_another_hash) {
  Image other = kImage;
  other.pixels[1] ^= 0x100;
  EXPECT_NE(listed(other), listed(kImage));
}

TEST(FrameList, the_later_line_of_a_flip_counts_and_a_line_cut_off_does_not) {
  const std::string whole = line_of(7, listed(kImage)) + line_of(7, listed({1, 1, {5}}));
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    const auto frames = parse_frame_list(whole.substr(0, cut));
    ASSERT_TRUE(frames) << cut;
    const size_t first = line_of(7, listed(kImage)).size();
    EXPECT_EQ(frames->size(), cut < first ? 0u : 1u);
    if (cut < first) continue;
    EXPECT_EQ(frames->at(7).width, cut == whole.size() ? 1u : 2u);
  }
}

TEST(FrameList, a_line_that_is_none_of_ours_is_named) {
  const std::string good = line_of(1, listed(kImage));
  for (const std::string bad :
       {"\n", "x\n", "1 2x3 abc\n", "1 2 3 00000000000000000000000000000000\n",
        "-1 2x3 00000000000000000000000000000000\n", "1 2x3 0000000000000000000000000000000G\n"}) {
    const auto frames = parse_frame_list(good + bad);
    ASSERT_FALSE(frames) << bad;
    EXPECT_NE(frames.error().message.find("line 2 "), std::string::npos);
  }
}

}  // namespace
}  // namespace orrery::present::test
