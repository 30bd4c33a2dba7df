// Primitive and pixel shaders through translate(): valid modules of the right kind, refusals by name. What they compute
// is tested where they run (tests/gpu-service/dispatch).
#include <gtest/gtest.h>

#include <algorithm>
#include <spirv/unified1/spirv.hpp>

#include "gpu-service/shader/translate.hpp"
#include "tests/gpu-service/capture_files.hpp"
#include "tests/gpu-service/shader/interpret/assembled.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::shader::test {
namespace {

using testing::assemble;
using testing::program_of;

TranslateOptions primitive(uint32_t wave, const LaneLayout& layout, uint32_t parameters, uint32_t threads) {
  TranslateOptions o;
  o.layout = layout;
  o.layout.wave = wave;
  o.group_size = {threads, 1, 1};
  o.bind_buffers = false;
  o.stage = {.kind = StageKind::primitive, .parameters = parameters};
  return o;
}

TranslateOptions pixel(uint32_t wave, uint32_t parameters, uint32_t inputs = 2) {
  TranslateOptions o;
  o.layout = {wave, 32, 1, LaneExchange::subgroup};
  o.bind_buffers = false;
  o.rsrc2 = 2 << 1;
  o.stage = {.kind = StageKind::pixel, .parameters = parameters, .inputs = inputs};
  for (uint32_t i = 0; i < 32; ++i) o.stage.input_control[i] = i;
  return o;
}

// Is there an instruction `op` whose n-th operand is `operand`?
bool holds(std::span<const uint32_t> spirv, uint32_t op, uint32_t n, uint32_t operand) {
  for (size_t at = 5; at < spirv.size(); at += spirv[at] >> 16) {
    if ((spirv[at] & 0xffff) == op && n < spirv[at] >> 16 && spirv[at + n] == operand) return true;
  }
  return false;
}
bool is_fragment(const Module& module) {
  return holds(module.spirv, spv::OpEntryPoint, 1, spv::ExecutionModelFragment);
}
bool discards(const Module& module) { return holds(module.spirv, spv::OpKill, 0, 1 << 16 | spv::OpKill); }

std::string reasons(const std::expected<Module, std::vector<ShaderRefusal>>& made) {
  std::string text;
  if (made) return text;
  for (const auto& refusal : made.error()) text += refusal.mnemonic + ": " + refusal.reason + "\n";
  return text;
}

// As LLVM lays it out: connectivity in v0, vertex id in v5, group and wave in s2 and s3.
constexpr const char* kPassthrough = R"(
  s_mov_b32 exec_lo, -1
  s_bfe_u32 s4, s2, 0x9000c
  s_bfe_u32 s5, s2, 0x90016
  s_bfe_u32 s6, s3, 0x40018
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc0 over
  s_lshl_b32 s7, s5, 12
  s_or_b32 m0, s7, s4
  s_sendmsg sendmsg(MSG_GS_ALLOC_REQ)
over:
  v_mbcnt_lo_u32_b32 v9, -1, 0
  v_lshl_add_u32 v9, s6, 5, v9
  v_cmp_gt_u32 vcc_lo, s5, v9
  s_and_saveexec_b32 s10, vcc_lo
  s_cbranch_execz no_primitive
  exp prim v0, off, off, off done
no_primitive:
  s_mov_b32 exec_lo, s10
  v_cmp_gt_u32 vcc_lo, s4, v9
  s_and_saveexec_b32 s10, vcc_lo
  s_cbranch_execz no_vertex
  v_cvt_f32_u32 v10, v5
  v_mul_f32 v11, s8, v10
  v_mov_b32 v12, 0
  v_mov_b32 v13, 1.0
  exp pos0 v10, v11, v12, v13 done
  exp param0 v10, v11, off, off
no_vertex:
)";

TEST(GraphicsShader, a_primitive_shader_is_a_compute_module_in_every_layout) {
  const auto words = assemble(kPassthrough, 32);
  ASSERT_FALSE(words.empty());
  const Program program = program_of(words);
  for (const LaneLayout& layout : {subgroup_layout(32, 8), subgroup_layout(32, 32), whole_wave_layout(32)}) {
    const auto made = translate(program, primitive(32, layout, 1, 64));
    ASSERT_TRUE(made) << layout.text() << "\n" << reasons(made);
    EXPECT_EQ(validate_only(made->spirv), "") << layout.text();
    EXPECT_FALSE(is_fragment(*made));
    EXPECT_FALSE(made->writes_anywhere) << "exports stay in the draw's memory";
  }
}

TEST(GraphicsShader, an_export_that_the_draw_has_no_room_for_is_refused) {
  const Program program = program_of(assemble(kPassthrough, 32));
  const auto made = translate(program, primitive(32, subgroup_layout(32, 8), 0, 32));
  EXPECT_NE(reasons(made).find("exports parameter 0; SPI_VS_OUT_CONFIG has 0"), std::string::npos) << reasons(made);
}

TEST(GraphicsShader, a_pixel_shader_interpolates_and_exports) {
  const auto words = assemble(R"(
    s_mov_b32 m0, s2
    v_interp_p1_f32 v2, v0, attr0.x
    v_interp_p2_f32 v2, v1, attr0.x
    v_interp_mov_f32 v3, p0, attr1.w
    v_mov_b32 v4, s1
    exp mrt0 v2, v3, v4, v4 done vm
  )",
                              32);
  const auto made = translate(program_of(words), pixel(32, 2));
  ASSERT_TRUE(made) << reasons(made);
  EXPECT_EQ(validate_only(made->spirv), "");
  EXPECT_TRUE(is_fragment(*made));
  EXPECT_TRUE(discards(*made)) << "lanes that no export kept";
}

TEST(GraphicsShader, halves_two_targets_and_a_null_export_are_valid) {
  const auto words = assemble(R"(
    v_cvt_pkrtz_f16_f32 v2, v2, v3
    v_cmp_gt_f32 vcc_lo, 0.5, v2
    s_and_b32 exec_lo, exec_lo, vcc_lo
    exp mrt0 v2, v2, v2, v2 compr
    exp mrt3 v0, off, v1, off
    exp null off, off, off, off done vm
  )",
                              32);
  const auto made = translate(program_of(words), pixel(32, 0, 2 | 1 << 8 | 1 << 9));
  ASSERT_TRUE(made) << reasons(made);
  EXPECT_EQ(validate_only(made->spirv), "");
}

TEST(GraphicsShader, masks_are_read_whole_by_subgroups_in_wave32_and_wave64) {
  for (const uint32_t wave : {32u, 64u}) {
    const auto words = assemble(R"(
      s_mov_b32 s4, exec_lo
      s_mov_b32 exec_lo, 1
      v_mov_b32 v8, s0
      v_mov_b32 v9, s1
      global_store_dword v[8:9], v8, off offset:4
      s_mov_b32 exec_lo, s4
      v_mov_b32 v0, 1.0
      exp mrt0 v0, v0, v0, v0 done vm
    )",
                                wave);
    const auto made = translate(program_of(words), pixel(wave, 0));
    ASSERT_TRUE(made) << reasons(made);
    EXPECT_EQ(validate_only(made->spirv), "");
    EXPECT_TRUE(made->writes_anywhere);
  }
}

struct Refused {
  const char* text;
  const char* reason;
};

TEST(GraphicsShader, what_a_stage_has_no_meaning_for_is_refused_by_name) {
  for (const Refused& r : {Refused{"exp mrtz v0, off, off, off done vm", "exports depth"},
                           {"exp pos0 v0, v0, v0, v0 done", "export target 12 of a pixel shader"},
                           {"v_interp_p1_f32 v2, v0, attr2.x", "attribute 2 is parameter 2 of 1"},
                           {"s_sendmsg sendmsg(MSG_GS_ALLOC_REQ)", "sends message 9"},
                           {"v_readlane_b32 s4, v0, s5\nv_mov_b32 v1, s4\nexp mrt0 v1, v1, v1, v1 done vm",
                            "other lanes' values in a pixel shader"},
                           {"s_barrier", "LDS or barriers in a pixel shader"}}) {
    const auto made = translate(program_of(assemble(r.text, 32)), pixel(32, 1));
    EXPECT_NE(reasons(made).find(r.reason), std::string::npos) << r.text << "\n" << reasons(made);
  }
  TranslateOptions compute;
  compute.layout = subgroup_layout(32, 8);
  compute.group_size = {32, 1, 1};
  const auto made = translate(program_of(assemble("exp null off, off, off, off done", 32)), compute);
  EXPECT_NE(reasons(made).find("an export of a compute program"), std::string::npos);
}

class CapturedShaders : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = orrery::test::captures_folder();
    if (folder_.empty()) GTEST_SKIP() << "no folder shared/captures beside the source tree";
  }
  // The program at a byte of a recorded image.
  Program program(const char* file, size_t byte) {
    const auto words = orrery::test::read_words(folder_ / file);
    return program_of(std::span(words).subspan(byte / 4));
  }
  std::filesystem::path folder_;
};

TEST_F(CapturedShaders, all_five_are_translated) {
  if (IsSkipped()) return;
  struct Case {
    const char* file;
    size_t byte;
    TranslateOptions options;
  };
  TranslateOptions plain = pixel(64, 2);
  plain.rsrc2 = 0;
  for (const LaneLayout& layout : {subgroup_layout(64, 8), subgroup_layout(64, 32), whole_wave_layout(64)}) {
    const auto made =
        translate(program("agc-primitive-draw-triangle-fw1240.vertex.hex", 0), primitive(64, layout, 0, 64));
    ASSERT_TRUE(made) << reasons(made);
    EXPECT_EQ(validate_only(made->spirv), "") << layout.text();
  }
  for (const Case& c : {Case{"agc-primitive-draw-triangle-fw1240.pixel.hex", 0, plain},
                        {"agc-gl-cube-fw1240-b.payload.hex", 0, primitive(32, subgroup_layout(32, 8), 2, 32)},
                        {"agc-gl-cube-fw1240-b.payload.hex", 0x200, pixel(64, 2)},
                        {"agc-gl-cube-fw1240-a.payload.hex", 0x300, plain}}) {
    const auto made = translate(program(c.file, c.byte), c.options);
    ASSERT_TRUE(made) << c.file << " " << c.byte << "\n" << reasons(made);
    EXPECT_EQ(validate_only(made->spirv), "") << c.file << " " << c.byte;
  }
}

}  // namespace
}  // namespace orrery::shader::test
