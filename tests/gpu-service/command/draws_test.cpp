// From packets to a draw's state: written streams, and those recorded on a console where their files are.
#include <algorithm>

#include "bench_of_one_queue.hpp"
#include "gpu-service/command/pm4.hpp"
#include "gpu-service/draw/registers.hpp"
#include "tests/gpu-service/capture_files.hpp"

namespace orrery::command::test {
namespace {

using draw::DrawState;
using draw::OutputPrimitive;
using draw::PrimitiveType;
using draw::SwizzleMode;

std::vector<uint32_t> set(uint32_t index, uint32_t value) {
  if (index >= kUconfigBase) return {header(0x79, 2), index - kUconfigBase, value};
  if (index >= kContextBase) return {header(0x69, 2), index - kContextBase, value};
  return {header(0x76, 2), index - kShBase, value};
}
std::vector<uint32_t> draw_auto(uint32_t vertices) { return {header(0x2d, 2), vertices, 2}; }

TEST(Draws, a_draw_takes_what_the_registers_say_when_it_is_met) {
  Bench bench;
  bench.run(stream({set(draw::reg::kPixelProgram, 0x1234),
                    set(draw::reg::kPixelProgram + draw::reg::kRsrc2, 3 << 1),
                    set(draw::reg::kPixelProgram + draw::reg::kUserData + 2, 77),
                    set(draw::reg::kExportProgram, 0x5678),
                    set(draw::reg::kVgtShaderStagesEn, 1 << 13 | 1 << 22),
                    set(draw::reg::kVgtPrimitiveType, 6),
                    set(draw::reg::kVgtGsOutPrimType, 2),
                    {header(0x2f, 1), 5},
                    draw_auto(9),
                    set(draw::reg::kVgtPrimitiveType, 4),
                    {header(0x27, 5), 100, 0x4000, 2, 33, 0}}));
  ASSERT_EQ(bench.executor.draws.size(), 2u);
  const DrawState& first = bench.executor.draws[0];
  EXPECT_EQ(first.pixel_shader.program.value, 0x123400u);
  EXPECT_EQ(first.pixel_shader.user_sgprs, 3u);
  EXPECT_EQ(first.pixel_shader.user_data[2], 77u);
  EXPECT_EQ(first.pixel_shader.wave, 64u);
  EXPECT_EQ(first.primitive_shader.program.value, 0x567800u);
  EXPECT_EQ(first.primitive_shader.wave, 32u);
  EXPECT_EQ(first.primitive, PrimitiveType::triangle_strip);
  EXPECT_EQ(first.vertices, 9u);
  EXPECT_EQ(first.instances, 5u);
  EXPECT_FALSE(first.indexed);
  const DrawState& second = bench.executor.draws[1];
  EXPECT_EQ(second.primitive, PrimitiveType::triangles);
  EXPECT_TRUE(second.indexed);
  EXPECT_EQ(second.indices.value, 0x200004000u);
  EXPECT_EQ(second.vertices, 33u);
}

TEST(Draws, the_smallest_of_all_scissors_counts) {
  Bench bench;
  bench.run(stream({set(draw::reg::kPaScScreenScissorTl + 1, 600 << 16 | 800),
                    set(draw::reg::kPaScWindowScissorTl, 1u << 31 | 7 << 16 | 5),
                    set(draw::reg::kPaScWindowScissorTl + 1, 900 << 16 | 900),
                    set(draw::reg::kPaScGenericScissorTl, 1u << 31 | 2 << 16 | 9),
                    set(draw::reg::kPaScGenericScissorTl + 1, 500 << 16 | 700),
                    set(draw::reg::kPaScVportScissor0Tl + 1, 1 << 16 | 1), draw_auto(3),
                    set(draw::reg::kPaScModeCntl0, 2), draw_auto(3)}));
  ASSERT_EQ(bench.executor.draws.size(), 2u);
  EXPECT_EQ(bench.executor.draws[0].scissor, (draw::Scissor{9, 7, 700, 500}));
  EXPECT_TRUE(bench.executor.draws[1].scissor.empty());
}

TEST(Draws, what_no_register_was_set_for_is_refused_by_name) {
  Bench bench;
  bench.run(draw_auto(3));
  ASSERT_EQ(bench.executor.draws.size(), 1u);
  const auto reasons = draw::not_drawn(bench.executor.draws[0]);
  const auto names = [&](const char* part) {
    return std::ranges::any_of(reasons, [&](const std::string& r) { return r.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(names("SPI_SHADER_PGM_LO_PS"));
  EXPECT_TRUE(names("PRIMGEN_EN"));
  EXPECT_TRUE(names("colour target at address 0"));
  EXPECT_TRUE(names("PA_CL_VTE_CNTL"));
  EXPECT_NE(draw::describe(bench.executor.draws[0]).find("not drawn: no pixel shader"), std::string::npos);
}

class CapturedDraws : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = orrery::test::captures_folder();
    if (folder_.empty()) GTEST_SKIP() << "no folder shared/captures beside the source tree";
  }
  std::vector<DrawState> draws_of(const char* name) {
    Bench bench({{0x2000c0000, 0x40000, 0, 0x33, 4}}, 0x40000);
    bench.run(orrery::test::read_words(folder_ / (std::string(name) + ".hex")));
    return bench.executor.draws;
  }
  std::filesystem::path folder_;
};

TEST_F(CapturedDraws, the_triangle_is_whole_and_all_of_it_can_be_drawn) {
  if (IsSkipped()) return;
  const auto draws = draws_of("agc-primitive-draw-triangle-fw1240");
  ASSERT_EQ(draws.size(), 1u);
  const DrawState& s = draws[0];
  EXPECT_EQ(s.primitive_shader.program.value, 0x2000c0000u);
  EXPECT_EQ(s.pixel_shader.program.value, 0x2000c0200u);
  EXPECT_EQ(s.primitive, PrimitiveType::triangles);
  EXPECT_EQ(s.output, OutputPrimitive::triangles);
  EXPECT_TRUE(s.passthrough);
  EXPECT_EQ(s.vertices, 3u);
  EXPECT_EQ(s.instances, 1u);
  EXPECT_EQ(s.parameters, 0u);
  EXPECT_EQ(s.target.base.value, 0x2000e0000u);
  EXPECT_EQ(s.target.width, 64u);
  EXPECT_EQ(s.target.height, 64u);
  EXPECT_EQ(s.target.format, 10u);
  EXPECT_EQ(s.target.component_swap, 0u);
  EXPECT_EQ(s.target.swizzle, SwizzleMode::r_64k_x);
  EXPECT_EQ(s.target.write_mask, 0xfu);
  EXPECT_EQ(s.viewport.scale, (std::array{32.f, 32.f, .5f}));
  EXPECT_EQ(s.viewport.offset, (std::array{32.f, 32.f, .5f}));
  EXPECT_EQ(draw::not_drawn(s), std::vector<std::string>{}) << draw::describe(s);
}

TEST_F(CapturedDraws, the_point_differs_in_what_its_shader_exports) {
  if (IsSkipped()) return;
  const auto draws = draws_of("agc-primitive-draw-fw1240");
  ASSERT_EQ(draws.size(), 1u);
  EXPECT_EQ(draws[0].output, OutputPrimitive::points);
  EXPECT_EQ(draws[0].point_width, 1.f);
  EXPECT_EQ(draw::not_drawn(draws[0]), std::vector<std::string>{}) << draw::describe(draws[0]);
}

TEST_F(CapturedDraws, the_cube_is_twelve_triangles_that_differ_in_where_their_vertices_lie) {
  if (IsSkipped()) return;
  const auto draws = draws_of("agc-gl-cube-fw1240-b");
  ASSERT_EQ(draws.size(), 12u);
  for (size_t i = 0; i < draws.size(); ++i) {
    const DrawState& s = draws[i];
    EXPECT_EQ(s.primitive_shader.program.value, 0x2008f0000u);
    EXPECT_EQ(s.pixel_shader.program.value, 0x2008f0200u);
    EXPECT_EQ(s.primitive_shader.wave, 32u);
    EXPECT_EQ(s.pixel_shader.user_data[0], 0x008f0900u);
    EXPECT_EQ(s.parameters, 2u);
    EXPECT_EQ(s.vertices, 3u);
    EXPECT_EQ(s.primitive_shader.user_data[0], i * 144) << "48 bytes a vertex";
    EXPECT_EQ(s.target.swizzle, SwizzleMode::linear);
    EXPECT_EQ(s.target.component_swap, 1u);
    EXPECT_EQ(s.target.width, 1920u);
    EXPECT_EQ(s.target.height, 1080u);
    EXPECT_EQ(s.depth.base.value, 0x200080000u);
    EXPECT_EQ(s.depth.swizzle, SwizzleMode::z_64k_x);
    EXPECT_EQ(s.depth.control, 0x16u);
  }
}

}  // namespace
}  // namespace orrery::command::test
