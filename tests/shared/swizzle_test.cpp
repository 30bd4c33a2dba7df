#include "shared/swizzle.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace orrery::swizzle {
namespace {

TEST(Swizzle, every_dword_of_a_block_has_one_pixel_and_every_pixel_one_dword) {
  std::vector<bool> seen(kBlockDwords);
  for (uint32_t y = 0; y < kBlockSide; ++y) {
    for (uint32_t x = 0; x < kBlockSide; ++x) {
      const uint64_t index = tiled_index(x, y, kBlockSide);
      ASSERT_LT(index, kBlockDwords);
      EXPECT_FALSE(seen[index]) << x << " " << y;
      seen[index] = true;
    }
  }
}

TEST(Swizzle, pixels_and_dwords_of_surfaces_of_all_shapes_go_there_and_back) {
  for (const auto& [width, height] :
       {std::pair{1u, 1u}, {64u, 64u}, {127u, 3u}, {128u, 128u}, {129u, 200u}, {300u, 129u}, {1920u, 130u}}) {
    const uint64_t all = tiled_dwords(width, height);
    for (uint32_t y = 0; y < height; ++y) {
      for (uint32_t x = 0; x < width; ++x) {
        const uint64_t index = tiled_index(x, y, width);
        ASSERT_LT(index, all);
        ASSERT_EQ(pixel_at(index, width), (std::pair{x, y})) << width;
      }
    }
    for (uint64_t index = 0; index < all; ++index) {
      const auto [x, y] = pixel_at(index, width);
      ASSERT_EQ(tiled_index(x, y, blocks_per_row(width) * kBlockSide), index);
    }
  }
}

TEST(Swizzle, a_linear_row_is_whole_units_of_256_bytes) {
  EXPECT_EQ(linear_pitch(64), 256u);
  EXPECT_EQ(linear_pitch(65), 512u);
  EXPECT_EQ(linear_pitch(1920), 7680u);
}

}  // namespace
}  // namespace orrery::swizzle
