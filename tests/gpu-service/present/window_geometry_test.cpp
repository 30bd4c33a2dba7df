#include "gpu-service/present/window_geometry.hpp"

#include <gtest/gtest.h>

namespace orrery::present::test {
namespace {

TEST(WindowGeometry, a_frame_as_large_as_the_window_is_not_scaled) {
  EXPECT_EQ(place_of_frame(1920, 1080, 1920, 1080), (Rectangle{0, 0, 1920, 1080}));
}

TEST(WindowGeometry, the_aspect_ratio_is_kept_with_bars_on_two_sides) {
  EXPECT_EQ(place_of_frame(100, 100, 640, 360), (Rectangle{140, 0, 360, 360}));
  EXPECT_EQ(place_of_frame(1920, 1080, 800, 800), (Rectangle{0, 175, 800, 450}));
  EXPECT_EQ(place_of_frame(16384, 1, 100, 100), (Rectangle{0, 49, 100, 1}));
  EXPECT_EQ(place_of_frame(0, 1, 100, 100), Rectangle{});
}

TEST(WindowGeometry, the_first_window_has_the_frames_size_where_the_screen_allows_it) {
  EXPECT_EQ(first_window(640, 360, {0, 0, 640, 360}), (Rectangle{0, 0, 640, 360}));
  EXPECT_EQ(first_window(1280, 720, {0, 24, 1920, 1056}), (Rectangle{320, 192, 1280, 720}));
  const auto scaled = first_window(1920, 1080, {0, 0, 1000, 1000});
  EXPECT_EQ(scaled.width, 800u);
  EXPECT_EQ(scaled.height, 450u);
}

TEST(WindowGeometry, only_possible_places_are_restored) {
  protocol::WindowState state{};
  EXPECT_FALSE(restored_window(state));
  state.valid = 1;
  state.x = -20;
  state.y = 30;
  state.width = 800;
  state.height = 600;
  state.full_screen = 1;
  const auto window = restored_window(state);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->place, (Rectangle{-20, 30, 800, 600}));
  EXPECT_TRUE(window->full_screen);
  state.width = 0;
  EXPECT_FALSE(restored_window(state));
  state.width = 0xffffffff;
  EXPECT_FALSE(restored_window(state));
  state.width = 800;
  state.x = INT32_MIN;
  EXPECT_FALSE(restored_window(state));
}

}  // namespace
}  // namespace orrery::present::test
