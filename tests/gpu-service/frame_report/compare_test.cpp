#include "gpu-service/frame_report/compare.hpp"

#include <gtest/gtest.h>

#include "gpu-service/present/frame_keeper.hpp"
#include "tests/gpu-service/present/temporary_directory.hpp"

namespace orrery::frame_report {
namespace {

using present::Image;
using present::test::TemporaryDirectory;

Image grey(uint32_t width, uint32_t height) {
  return {width, height, std::vector<uint32_t>(width * height, 0xff808080)};
}

class CompareTest : public testing::Test {
 protected:
  // Flips 0, 1, ... of one run, every second one kept as PNG.
  std::string run(const std::string& name, const std::vector<Image>& flips) const {
    const std::string folder = directory_.path() + "/" + name;
    const auto keeper = present::FrameKeeper::create({.keep_frames_directory = folder, .keep_every = 2});
    EXPECT_TRUE(keeper);
    for (size_t i = 0; i < flips.size(); ++i) EXPECT_TRUE(keeper->keep(flips[i], i));
    return folder;
  }
  Result<Comparison> compare(const std::string& a, const std::string& b) const {
    return compare_folders(a, b, directory_.path() + "/out");
  }
  TemporaryDirectory directory_;
};

TEST_F(CompareTest, two_runs_that_showed_the_same_are_equal_and_write_nothing) {
  const std::vector<Image> flips(5, grey(4, 3));
  const auto found = compare(run("a", flips), run("b", flips));
  ASSERT_TRUE(found) << found.error().describe();
  EXPECT_TRUE(found->equal());
  EXPECT_EQ(found->same, 5u);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/out"));
}

TEST_F(CompareTest, a_flip_that_differs_is_named_with_its_pixels_and_its_difference_as_a_picture) {
  std::vector<Image> flips(5, grey(8, 6));
  const std::string a = run("a", flips);
  flips[2].pixels[1 * 8 + 3] = 0xff808090;  // red by 16
  flips[2].pixels[4 * 8 + 6] = 0xff788080;  // blue by 8
  flips[3].pixels[0] = 0xff000000;          // not kept as PNG
  const auto found = compare(a, run("b", flips));
  ASSERT_TRUE(found) << found.error().describe();
  EXPECT_EQ(found->same, 3u);
  ASSERT_EQ(found->different.size(), 2u);
  EXPECT_EQ(found->different[0].flip, 2u);
  EXPECT_EQ(found->different[0].text, "2 of 48 pixels differ, by up to 16, within 3,1 to 6,4");
  const Image picture = present::test::read_png(found->different[0].picture);
  std::vector<uint32_t> expected(48, 0xff000000);
  expected[1 * 8 + 3] = 0xff0000ff;
  expected[4 * 8 + 6] = 0xff7f0000;
  EXPECT_EQ(picture.pixels, expected);
  EXPECT_EQ(found->different[1].flip, 3u);
  EXPECT_TRUE(found->different[1].picture.empty());
  EXPECT_NE(text_of(*found).find("3 flips are the same, 2 differ, 0 are in one folder only"), std::string::npos);
}

TEST_F(CompareTest, flips_of_one_run_only_and_other_sizes_are_told) {
  const auto found = compare(run("a", {grey(2, 2), grey(2, 2), grey(2, 2)}), run("b", {grey(2, 2), grey(4, 1)}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->only_first, std::vector<uint64_t>{2});
  ASSERT_EQ(found->different.size(), 1u);
  EXPECT_EQ(found->different[0].text, "2x2 against 4x1");
}

TEST_F(CompareTest, a_folder_without_a_list_or_with_a_damaged_picture_is_an_error_that_names_it) {
  std::vector<Image> flips{grey(2, 2)};
  const std::string a = run("a", flips);
  const auto none = compare(a, directory_.path());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ExitCode::file_missing);
  flips[0].pixels[0] = 0;
  const std::string b = run("b", flips);
  std::filesystem::resize_file(b + "/frame-000000.png", 40);
  const auto cut = compare(a, b);
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message.find("b/frame-000000.png"), std::string::npos);
}

}  // namespace
}  // namespace orrery::frame_report
