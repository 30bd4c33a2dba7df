#include <gtest/gtest.h>
#include <png.h>

#include <filesystem>

#include "gpu-service/present/presenter.hpp"
#include "temporary_directory.hpp"

namespace orrery::present::test {
namespace {

TEST(Png, an_image_comes_back_as_it_was) {
  const TemporaryDirectory directory;
  Image image{37, 23, {}};
  for (uint32_t i = 0; i < 37 * 23; ++i) image.pixels.push_back(0xff000000 | i * 2654435761u >> 8);
  const std::string path = directory.path() + "/a.png";
  ASSERT_TRUE(write_png(path, image));
  EXPECT_EQ(read_png(path).pixels, image.pixels);
  // Nothing is left beside it, and writing again replaces it.
  image.pixels[0] = 0xff123456;
  ASSERT_TRUE(write_png(path, image));
  EXPECT_EQ(read_png(path).pixels, image.pixels);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(Png, the_same_image_gives_the_same_file) {
  const TemporaryDirectory directory;
  const Image image{2, 2, {1, 2, 3, 4}};
  ASSERT_TRUE(write_png(directory.path() + "/a.png", image));
  ASSERT_TRUE(write_png(directory.path() + "/b.png", image));
  EXPECT_EQ(bytes_of_file(directory.path() + "/a.png"), bytes_of_file(directory.path() + "/b.png"));
}

TEST(Png, a_place_that_cannot_be_written_is_a_usage_error_with_the_path) {
  const auto written = write_png("/nonexistent/folder/a.png", {1, 1, {0}});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ExitCode::usage);
  EXPECT_NE(written.error().describe().find("/nonexistent/folder/a.png"), std::string::npos);
}

}  // namespace
}  // namespace orrery::present::test
