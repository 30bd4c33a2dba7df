// The draws that a console was recorded with: every pixel, the fence and the canaries. Without the files of the
// recording the tests skip by name.
#include "shared/swizzle.hpp"
#include "tests/gpu-service/capture_files.hpp"
#include "tests/gpu-service/draw/drawing.hpp"

namespace orrery::draw {
namespace {

constexpr uint64_t kBegin = 0x2000c0000, kSize = 0x40000;
constexpr uint64_t kVertex = 0x2000c0000, kPixel = 0x2000c0200, kFence = 0x2000d0000, kTarget = 0x2000e0000,
                   kCanaries = 0x2000f0000;

class CapturedDrawing : public Drawing {
 protected:
  void SetUp() override {
    folder_ = test::captures_folder();
    if (folder_.empty()) GTEST_SKIP() << "no folder shared/captures beside the source tree";
    Drawing::SetUp();
  }
  void TearDown() override {
    if (!folder_.empty()) Drawing::TearDown();
  }
  void draw(const std::string& name) {
    guest.map({dispatch::TestGuest::entry(kBegin, kSize, 0x10000)});
    put(kVertex, test::read_words(folder_ / "agc-primitive-draw-triangle-fw1240.vertex.hex"));
    put(kPixel, test::read_words(folder_ / "agc-primitive-draw-triangle-fw1240.pixel.hex"));
    put(kTarget, std::vector<uint32_t>(0x4000, 0x55555555));
    run(test::read_words(folder_ / (name + ".hex")));
    EXPECT_EQ(told.text, "");
    const auto expected = test::read_words(folder_ / (name + ".target.hex"));
    ASSERT_EQ(expected.size(), 4096u);
    size_t wrong = 0;
    for (uint32_t i = 0; i < 0x4000; ++i) {
      const uint32_t seen = u32(kTarget + i * 4), right = i < expected.size() ? expected[i] : 0x55555555;
      if (seen == right) continue;
      const auto [x, y] = swizzle::pixel_at(i, 64);
      if (++wrong < 10) ADD_FAILURE() << x << "," << y << std::hex << ": " << seen << " instead of " << right;
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(u32(kFence), 0xbeefcafeu);
    // By the primitive shader, the pixel shader, and again.
    EXPECT_EQ(u32(kCanaries), 0xbeef0001u);
    EXPECT_EQ(u32(kCanaries + 4), 0xbeef0002u);
    EXPECT_EQ(u32(kCanaries + 24), 0xbeef0003u);
    EXPECT_EQ(u32(kCanaries + 40), 0xbeef0004u);
  }
  std::filesystem::path folder_;
};

TEST_P(CapturedDrawing, the_triangle_is_the_console_s_to_every_pixel) {
  if (IsSkipped() || executor == nullptr) return;
  draw("agc-primitive-draw-triangle-fw1240");
}

TEST_P(CapturedDrawing, the_point_is_one_pixel) {
  if (IsSkipped() || executor == nullptr) return;
  draw("agc-primitive-draw-fw1240");
}

INSTANTIATE_TEST_SUITE_P(Both, CapturedDrawing, testing::Bool(), arena_form);

}  // namespace
}  // namespace orrery::draw
