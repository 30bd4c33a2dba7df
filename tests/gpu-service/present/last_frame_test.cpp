#include "gpu-service/present/last_frame.hpp"

#include <gtest/gtest.h>

namespace orrery::present::test {
namespace {

TEST(LastFrame, what_one_life_saves_the_next_one_loads) {
  protocol::WindowState state{};
  std::vector<std::byte> pixels(1024);
  EXPECT_FALSE(LastFrame(&state, pixels).load());
  const Image image{3, 2, {1, 2, 3, 4, 5, 6}};
  LastFrame(&state, pixels).save(image);
  const auto loaded = LastFrame(&state, pixels).load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->width, 3u);
  EXPECT_EQ(loaded->pixels, image.pixels);
}

TEST(LastFrame, a_frame_that_does_not_fit_is_left_out) {
  protocol::WindowState state{};
  std::vector<std::byte> pixels(16);
  LastFrame(&state, pixels).save({3, 2, {1, 2, 3, 4, 5, 6}});
  EXPECT_FALSE(LastFrame(&state, pixels).load());
  LastFrame(nullptr, {}).save({1, 1, {1}});
  EXPECT_FALSE(LastFrame(nullptr, {}).load());
}

TEST(LastFrame, sizes_that_the_segment_does_not_hold_are_not_believed) {
  protocol::WindowState state{};
  std::vector<std::byte> pixels(1024);
  for (const uint32_t width : {17u, 16385u, 0xffffffffu}) {
    state.last_width = width;
    state.last_height = 0xffffffff;
    EXPECT_FALSE(LastFrame(&state, pixels).load());
    state.last_height = 16;
    EXPECT_FALSE(LastFrame(&state, pixels).load());
  }
}

}  // namespace
}  // namespace orrery::present::test
