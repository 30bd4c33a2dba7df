#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "gpu-service/present/presenter.hpp"
#include "tests/gpu-service/capture_files.hpp"

namespace orrery::present::test {
namespace {

using orrery::test::captures_folder;
using orrery::test::read_words;

// A pixel's dword index, bit by bit: each index bit is the parity of some coordinate bits.
uint64_t index_bit_by_bit(uint32_t x, uint32_t y) {
  const auto bx = [&](int i) { return x >> i & 1; };
  const auto by = [&](int i) { return y >> i & 1; };
  const uint32_t bits[14] = {bx(0),         bx(1),         by(0),         by(1), by(2), bx(2), bx(3) ^ by(3),
                             bx(4) ^ by(4), by(5) ^ bx(6), bx(5) ^ by(6), by(3), bx(4), by(6), bx(6)};
  uint64_t index = 0;
  for (int i = 0; i < 14; ++i) index |= uint64_t{bits[i]} << i;
  return index;
}

TEST(Tiling, the_table_equals_the_layout_computed_bit_by_bit) {
  for (uint32_t y = 0; y < 128; ++y) {
    for (uint32_t x = 0; x < 128; ++x) EXPECT_EQ(tiled_index(x, y, 128), index_bit_by_bit(x, y)) << x << " " << y;
  }
}

TEST(Tiling, every_pixel_of_a_surface_has_its_own_dword_and_none_lies_outside) {
  constexpr uint32_t kWidth = 300, kHeight = 200;
  const protocol::FlipBody flip{.width = kWidth, .height = kHeight, .tiling = 0, .pixel_format = 0x8000000000000000};
  const uint64_t size = *buffer_size(flip);
  EXPECT_EQ(size, 3u * 2 * 65536);
  std::set<uint64_t> seen;
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      const uint64_t index = tiled_index(x, y, kWidth);
      EXPECT_LT(index * 4, size);
      EXPECT_TRUE(seen.insert(index).second);
    }
  }
}

TEST(Tiling, blocks_follow_each_other_row_by_row) {
  EXPECT_EQ(tiled_index(128, 0, 1920), 0x4000u);
  EXPECT_EQ(tiled_index(0, 128, 1920), 15u * 0x4000);
  EXPECT_EQ(tiled_index(1919, 1079, 1920) / 0x4000, 8u * 15 + 14);
}

// Edge function of the top-left rule in 24.8 fixed point would be exact here too: the corners are whole pixels.
bool inside_triangle(uint32_t px, uint32_t py) {
  // (16,16), (48,16), (32,48); sample at the pixel's centre, doubled coordinates.
  const int64_t x = 2 * px + 1, y = 2 * py + 1;
  const int64_t corners[3][2] = {{32, 32}, {96, 32}, {64, 96}};
  for (int i = 0; i < 3; ++i) {
    const auto* a = corners[i];
    const auto* b = corners[(i + 1) % 3];
    const int64_t dx = b[0] - a[0], dy = b[1] - a[1];
    const int64_t edge = dx * (y - a[1]) - dy * (x - a[0]);
    const bool top_left = (dy == 0 && dx > 0) || dy < 0;
    if (edge < 0 || (edge == 0 && !top_left)) return false;
  }
  return true;
}

TEST(Tiling, the_captured_triangle_untiles_to_the_ideal_raster) {
  const auto folder = captures_folder();
  if (folder.empty()) GTEST_SKIP() << "no folder shared/captures beside the source tree";
  const auto words = read_words(folder / "agc-primitive-draw-triangle-fw1240.target.hex");
  ASSERT_GE(words.size(), 4096u);
  size_t covered = 0;
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 64; ++x) {
      const uint64_t index = tiled_index(x, y, 64);
      ASSERT_LT(index, words.size());
      const bool inside = inside_triangle(x, y);
      covered += inside ? 1 : 0;
      EXPECT_EQ(words[index], inside ? 0xff0000ffu : 0x55555555u) << x << " " << y;
    }
  }
  EXPECT_EQ(covered, 512u);
}

TEST(Tiling, the_captured_point_is_one_pixel) {
  const auto folder = captures_folder();
  if (folder.empty()) GTEST_SKIP() << "no folder shared/captures beside the source tree";
  const auto words = read_words(folder / "agc-primitive-draw-fw1240.target.hex");
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 64; ++x) {
      EXPECT_EQ(words.at(tiled_index(x, y, 64)) != 0x55555555u, x == 15 && y == 15) << x << " " << y;
    }
  }
}

}  // namespace
}  // namespace orrery::present::test
