#include <gtest/gtest.h>

#include "gpu-service/present/presenter.hpp"

namespace orrery::present::test {
namespace {

constexpr uint64_t kFormat = 0x8000000000000000;

protocol::FlipBody linear(uint32_t width, uint32_t height, uint32_t pitch) {
  return {.width = width, .height = height, .pitch = pitch, .tiling = 1, .pixel_format = kFormat};
}

TEST(Image, a_linear_buffer_is_read_with_its_pitch_and_its_bytes_are_blue_green_red) {
  const auto flip = linear(2, 2, 3);
  const uint32_t words[] = {0x00112233, 0x80445566, 0xdead, 0x00778899, 0xffaabbcc};
  ASSERT_EQ(*buffer_size(flip), sizeof words);
  const auto image = image_of(flip, std::as_bytes(std::span(words)));
  ASSERT_TRUE(image);
  // R in the lowest byte; alpha is what the display makes of it.
  EXPECT_EQ(image->pixels, (std::vector<uint32_t>{0xff332211, 0xff665544, 0xff998877, 0xffccbbaa}));
}

// The second is large enough for several threads, and no multiple of anything.
TEST(Image, a_tiled_buffer_equals_the_linear_one) {
  Image used{1, 1, {5}};
  for (const auto& [width, height] : {std::pair{200u, 130u}, std::pair{1923u, 1081u}, std::pair{3u, 2u}}) {
    const protocol::FlipBody flip{.width = width, .height = height, .tiling = 0, .pixel_format = kFormat};
    std::vector<uint32_t> tiled(*buffer_size(flip) / 4);
    std::vector<uint32_t> rows(size_t{width} * height);
    for (uint32_t y = 0; y < height; ++y) {
      for (uint32_t x = 0; x < width; ++x) tiled[tiled_index(x, y, width)] = rows[size_t{y} * width + x] = x * 1000 + y;
    }
    auto a = image_of(flip, std::as_bytes(std::span(tiled)), std::move(used));
    const auto b = image_of(linear(width, height, width), std::as_bytes(std::span(rows)));
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->width, width);
    EXPECT_EQ(a->pixels, b->pixels);
    used = std::move(*a);
  }
}

TEST(Image, what_is_not_handled_has_a_name) {
  std::vector<uint32_t> words(64);
  const auto bytes = std::as_bytes(std::span(words));
  auto flip = linear(4, 4, 4);
  flip.pixel_format = 0x8000000022000000;
  EXPECT_NE(image_of(flip, bytes).error().describe().find("pixel format 0x8000000022000000"), std::string::npos);
  flip = linear(4, 4, 3);
  EXPECT_NE(image_of(flip, bytes).error().describe().find("pitch of 3 pixels"), std::string::npos);
  flip = linear(4, 4, 4);
  flip.tiling = 2;
  EXPECT_NE(image_of(flip, bytes).error().describe().find("tiling 2"), std::string::npos);
  EXPECT_FALSE(buffer_size(linear(0, 4, 4)));
  EXPECT_FALSE(buffer_size(linear(0xffffffff, 0xffffffff, 0xffffffff)));
  EXPECT_FALSE(image_of(linear(9, 8, 9), bytes));  // too few bytes
}

}  // namespace
}  // namespace orrery::present::test
