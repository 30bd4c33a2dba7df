#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "gpu-service/present/frame_list.hpp"
#include "gpu-service/present/presenter.hpp"
#include "temporary_directory.hpp"

namespace orrery::present::test {
namespace {

PresenterOptions headless(const std::string& directory, uint32_t every) {
  return {.run = {.headless = true, .keep_frames_directory = directory, .keep_every = every}};
}

TEST(Headless, every_nth_frame_is_kept_under_its_number) {
  const TemporaryDirectory directory;
  const std::string inner = directory.path() + "/made/on/demand";
  auto presenter = make_presenter(headless(inner, 3), {});
  ASSERT_TRUE(presenter);
  for (uint32_t i = 0; i < 8; ++i) ASSERT_TRUE((*presenter)->present({2, 1, {0xff000000 | i, 0xff000000}}, i));
  // Three pictures and the list, which has every frame.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(inner), {}), 4);
  std::ifstream list(inner + "/frames.txt");
  const auto frames = parse_frame_list(std::string(std::istreambuf_iterator<char>(list), {}));
  ASSERT_TRUE(frames);
  ASSERT_EQ(frames->size(), 8u);
  EXPECT_EQ(frames->at(5), listed({2, 1, {0xff000005, 0xff000000}}));
  EXPECT_EQ(read_png(inner + "/frame-000006.png").pixels[0], 0xff000006);
  EXPECT_FALSE((*presenter)->poll());
  EXPECT_FALSE((*presenter)->closed());
}

TEST(Headless, a_later_life_goes_on_with_the_list_and_a_new_run_starts_it_anew) {
  const TemporaryDirectory directory;
  auto options = headless(directory.path(), 1000);
  const auto show = [&](uint32_t life, uint64_t flip, uint32_t pixel) {
    options.life = life;
    auto presenter = make_presenter(options, {});
    ASSERT_TRUE(presenter);
    ASSERT_TRUE((*presenter)->present({1, 1, {pixel}}, flip));
  };
  const auto frames = [&] {
    std::ifstream list(directory.path() + "/frames.txt");
    return *parse_frame_list(std::string(std::istreambuf_iterator<char>(list), {}));
  };
  show(1, 0, 10);
  show(2, 0, 10);  // a flip that the first life showed and did not retire
  show(2, 1, 11);
  EXPECT_EQ(frames().size(), 2u);
  show(1, 0, 12);
  EXPECT_EQ(frames(), (FrameListing{{0, listed({1, 1, {12}})}}));
}

TEST(Headless, without_a_directory_nothing_is_kept) {
  auto presenter = make_presenter(headless("", 1), {});
  ASSERT_TRUE(presenter);
  EXPECT_TRUE((*presenter)->present({1, 1, {0}}, 0));
}

TEST(Headless, a_directory_that_cannot_be_made_is_a_usage_error) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/file") << "x";
  const auto presenter = make_presenter(headless(directory.path() + "/file", 1), {});
  ASSERT_FALSE(presenter);
  EXPECT_EQ(presenter.error().code, ExitCode::usage);
}

TEST(LateWindow, where_no_display_can_be_opened_each_frame_says_so) {
  const auto presenter = make_presenter({.run = {.title = "test"}}, {}, Error{ExitCode::no_display, "no screen", {}});
  ASSERT_TRUE(presenter);
  EXPECT_EQ((*presenter)->poll(), PadState{});
  for (uint64_t flip = 0; flip < 2; ++flip) {
    const auto shown = (*presenter)->present({1, 1, {0}}, flip);
    ASSERT_FALSE(shown);
    EXPECT_EQ(shown.error().code, ExitCode::no_display);
  }
  EXPECT_FALSE((*presenter)->closed());
}

}  // namespace
}  // namespace orrery::present::test
