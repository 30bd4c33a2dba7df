// A scene of our own whose pixels are known: a quad of two triangles, with colours that differ by one step a pixel.
#include "shared/swizzle.hpp"
#include "tests/gpu-service/draw/drawing.hpp"
#include "tests/gpu-service/shader/interpret/assembled.hpp"

namespace orrery::draw {
namespace {

using shader::testing::assemble;

constexpr uint64_t kBegin = 0x200000000, kSize = 0x100000;
constexpr uint64_t kPrimitive = kBegin, kPixel = kBegin + 0x1000, kVertices = kBegin + 0x2000,
                   kIndices = kBegin + 0x3000, kMarks = kBegin + 0x4000, kTarget = kBegin + 0x10000;
constexpr uint32_t kBackground = 0x11223344;

// A vertex is position and colour, 32 bytes, at s[8:9] by the vertex id in v5; s2 and s3 say how much there is. What is
// not mapped at all reads 0.
constexpr const char* kPrimitiveCode = R"(
  s_mov_b32 exec_lo, -1
  s_bfe_u32 s4, s2, 0x9000c
  s_bfe_u32 s5, s2, 0x90016
  s_bfe_u32 s6, s3, 0x40018
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 allocated
  s_lshl_b32 s7, s5, 12
  s_or_b32 m0, s7, s4
  s_nop 0
  s_sendmsg sendmsg(MSG_GS_ALLOC_REQ)
allocated:
  v_mbcnt_lo_u32_b32 v9, -1, 0
  v_lshl_add_u32 v9, s6, 5, v9
  v_cmp_gt_u32 vcc_lo, s5, v9
  s_and_saveexec_b32 s10, vcc_lo
  exp prim v0, off, off, off done
  s_mov_b32 exec_lo, s10
  v_cmp_gt_u32 vcc_lo, s4, v9
  s_and_saveexec_b32 s10, vcc_lo
  v_lshlrev_b32 v6, 5, v5
  global_load_dwordx4 v[12:15], v6, s[8:9]
  global_load_dwordx4 v[16:19], v6, s[8:9] offset:16
  s_waitcnt vmcnt(0)
  exp pos0 v12, v13, v14, v15 done
  exp param0 v16, v17, v18, v19
)";

constexpr const char* kPixelCode = R"(
  s_mov_b32 m0, s0
  v_interp_p1_f32 v2, v0, attr0.x
  v_interp_p2_f32 v2, v1, attr0.x
  v_interp_p1_f32 v3, v0, attr0.y
  v_interp_p2_f32 v3, v1, attr0.y
  v_interp_mov_f32 v4, p0, attr0.z
  v_mov_b32 v5, 1.0
  exp mrt0 v2, v3, v4, v5 done vm
)";

std::vector<uint32_t> set(uint32_t index, uint32_t value) {
  using namespace command;
  if (index >= kUconfigBase) return {0xc0017900, index - kUconfigBase, value};
  if (index >= kContextBase) return {0xc0016900, index - kContextBase, value};
  return {0xc0017600, index - kShBase, value};
}
uint32_t real(float value) { return std::bit_cast<uint32_t>(value); }

struct Scene {
  bool tiled = false, swapped = false;
  PrimitiveType primitive = PrimitiveType::triangle_strip;
  uint32_t scissor = 64;
  uint32_t raster = 0x240;
};

std::vector<uint32_t> state_of(const Scene& scene) {
  std::vector<uint32_t> all;
  const auto add = [&](uint32_t index, uint32_t value) {
    const auto packet = set(index, value);
    all.insert(all.end(), packet.begin(), packet.end());
  };
  add(reg::kExportProgram, kPrimitive >> 8);
  add(reg::kGeometryProgram + reg::kRsrc1, 0xc0 << 12);
  add(reg::kGeometryProgram + reg::kRsrc2, 2 << 1);
  add(reg::kGeometryProgram + reg::kUserData, static_cast<uint32_t>(kVertices));
  add(reg::kGeometryProgram + reg::kUserData + 1, kVertices >> 32);
  add(reg::kPixelProgram, kPixel >> 8);
  add(reg::kPixelProgram + reg::kRsrc1, 0xc0 << 12);
  add(reg::kVgtShaderStagesEn, 1 << 13 | 1 << 22 | 1 << 25);
  add(reg::kSpiPsInControl, 1 << 15);
  add(reg::kVgtPrimitiveType, static_cast<uint32_t>(scene.primitive));
  add(reg::kVgtGsOutPrimType, 2);
  add(reg::kGeCntl, 64 | 64 << 9);
  add(reg::kSpiVsOutConfig, 0);
  add(reg::kSpiShaderPosFormat, 4);
  add(reg::kSpiPsInputEna, 2);
  add(reg::kSpiPsInputAddr, 2);
  add(reg::kSpiShaderColFormat, 9);
  for (uint32_t i = 0; i < 3; ++i) {
    add(reg::kPaClVportXscale + i * 2, real(i == 2 ? 0.5f : 32));
    add(reg::kPaClVportXscale + i * 2 + 1, real(i == 2 ? 0.5f : 32));
  }
  add(reg::kPaScVportZmin0 + 1, real(1));
  for (const uint32_t at : {reg::kPaScScreenScissorTl, reg::kPaScWindowScissorTl, reg::kPaScGenericScissorTl}) {
    add(at + 1, 64 << 16 | scene.scissor);
  }
  add(reg::kPaClVteCntl, 0x43f);
  add(reg::kPaSuScModeCntl, scene.raster);
  add(reg::kPaSuVtxCntl, 0x2d);
  add(reg::kCbTargetMask, 0xf);
  add(reg::kCbShaderMask, 0xf);
  add(reg::kCbColorControl, 0x00cc0010);
  add(reg::kCbColor0Base, kTarget >> 8);
  add(reg::kCbColor0Info, 10 << 2 | (scene.swapped ? 1 << 11 : 0));
  add(reg::kCbColor0Attrib2, 63 << 14 | 63);
  add(reg::kCbColor0Attrib3, scene.tiled ? 27 << 14 : 0);
  return all;
}

// 8,16 to 40,48; red is the column and green the row behind the quad's corner, blue is the first vertex's 7.
constexpr uint32_t kLeft = 8, kTop = 16, kSide = 32;
std::vector<uint32_t> quad() {
  std::vector<uint32_t> words;
  for (const auto& [x, y] : {std::pair{0u, 0u}, {kSide, 0u}, {0u, kSide}, {kSide, kSide}}) {
    const auto clip = [](uint32_t at) { return real((static_cast<float>(at) - 32) / 32); };
    const auto step = [](uint32_t at) { return real((static_cast<float>(at) - 0.5f) / 255); };
    words.insert(words.end(),
                 {clip(kLeft + x), clip(kTop + y), real(0), real(1), step(x), step(y), real(7.0f / 255), 0});
  }
  return words;
}

class OwnScene : public Drawing {
 protected:
  void SetUp() override {
    Drawing::SetUp();
    if (executor == nullptr) return;
    guest.map({dispatch::TestGuest::entry(kBegin, kSize, 0x20000)});
    put(kPrimitive, assemble(kPrimitiveCode, 32));
    put(kPixel, assemble(kPixelCode, 32));
    put(kVertices, quad());
    put(kTarget, std::vector<uint32_t>(0x4000, kBackground));
  }
  // The scene, then `more` packets behind it.
  void draw(const Scene& scene, std::vector<uint32_t> packets) {
    auto all = state_of(scene);
    all.insert(all.end(), packets.begin(), packets.end());
    run(std::move(all));
  }
  void expect_quad(const Scene& scene, uint32_t right_edge = 64) {
    size_t wrong = 0;
    for (uint32_t y = 0; y < 64; ++y) {
      for (uint32_t x = 0; x < 64; ++x) {
        const uint64_t at = scene.tiled ? swizzle::tiled_index(x, y, 64) : uint64_t{y} * 64 + x;
        const bool inside = x >= kLeft && x < kLeft + kSide && y >= kTop && y < kTop + kSide && x < right_edge;
        const uint32_t red = x - kLeft, green = y - kTop, blue = 7;
        const uint32_t drawn =
            scene.swapped ? 0xff000000 | red << 16 | green << 8 | blue : 0xff000000 | blue << 16 | green << 8 | red;
        const uint32_t seen = u32(kTarget + at * 4), right = inside ? drawn : kBackground;
        if (seen != right && ++wrong < 6) {
          ADD_FAILURE() << x << "," << y << std::hex << ": " << seen << " instead of " << right;
        }
      }
    }
    EXPECT_EQ(wrong, 0u);
  }
};

const std::vector<uint32_t> kDrawStrip{0xc0012d00, 4, 2};

TEST_P(OwnScene, a_strip_of_two_triangles_has_the_colours_of_its_corners) {
  for (const Scene& scene : {Scene{}, Scene{.tiled = true}, Scene{.swapped = true}}) {
    put(kTarget, std::vector<uint32_t>(0x4000, kBackground));
    draw(scene, kDrawStrip);
    EXPECT_EQ(told.text, "");
    expect_quad(scene);
  }
  EXPECT_EQ(executor->counters().draws, 3u);
}

TEST_P(OwnScene, indices_and_lists_draw_the_same) {
  const Scene scene{.primitive = PrimitiveType::triangles};
  put(kIndices, std::vector<uint32_t>{0 | 1 << 16, 2 | 2 << 16, 1 | 3 << 16});
  auto packets = set(reg::kVgtIndexType, 0);
  const std::vector<uint32_t> indexed{0xc0042700, 6, static_cast<uint32_t>(kIndices), kIndices >> 32, 6, 0};
  packets.insert(packets.end(), indexed.begin(), indexed.end());
  draw(scene, packets);
  EXPECT_EQ(told.text, "");
  expect_quad(scene);
}

TEST_P(OwnScene, a_scissor_and_culling_keep_pixels_away) {
  const Scene scene{.scissor = 20};
  draw(scene, kDrawStrip);
  expect_quad(scene, 20);
  put(kTarget, std::vector<uint32_t>(0x4000, kBackground));
  draw({.raster = 0x243}, kDrawStrip);
  EXPECT_EQ(told.text, "");
  expect_quad({}, 0);
}

TEST_P(OwnScene, fills_draws_copies_and_labels_are_in_the_stream_s_order) {
  constexpr uint64_t kCopy = kBegin + 0x20000;
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  auto packets = std::vector<uint32_t>{0xc0055000, 0xc0300000, kBackground, 0, low(kTarget), kTarget >> 32, 0x4000};
  put(kTarget, std::vector<uint32_t>(0x4000, 0));
  packets.insert(packets.end(), kDrawStrip.begin(), kDrawStrip.end());
  const std::vector<uint32_t> copy{0xc0055000, 0xe0300000,  low(kTarget), kTarget >> 32,
                                   low(kCopy), kCopy >> 32, 0x4000};
  packets.insert(packets.end(), copy.begin(), copy.end());
  const std::vector<uint32_t> label{0xc0064900, 0x06603514, 0x20000000, low(kMarks), kMarks >> 32, 5, 0, 0};
  packets.insert(packets.end(), label.begin(), label.end());
  draw({}, packets);
  EXPECT_EQ(told.text, "");
  expect_quad({});
  EXPECT_EQ(u32(kMarks), 5u);
  for (uint32_t i = 0; i < 0x1000; ++i) ASSERT_EQ(u32(kCopy + i * 4), u32(kTarget + i * 4)) << i;
}

TEST_P(OwnScene, what_can_not_be_drawn_is_refused_by_name_and_the_stream_goes_on) {
  auto packets = set(reg::kCbColor0Base, 0x900000);
  packets.insert(packets.end(), kDrawStrip.begin(), kDrawStrip.end());
  const auto blends = set(reg::kCbBlend0Control, 1u << 30);
  packets.insert(packets.end(), blends.begin(), blends.end());
  packets.insert(packets.end(), kDrawStrip.begin(), kDrawStrip.end());
  draw({}, packets);
  EXPECT_NE(told.text.find("are not mapped in one piece"), std::string::npos) << told.text;
  EXPECT_NE(told.text.find("blending (CB_BLEND0_CONTROL 0x40000000)"), std::string::npos) << told.text;
  EXPECT_EQ(told.retirements, 1u);
  expect_quad({}, 0);
}

INSTANTIATE_TEST_SUITE_P(Both, OwnScene, testing::Bool(), arena_form);

}  // namespace
}  // namespace orrery::draw
