// What is not done is named, and nothing else happens; the names are the interpreter's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gpu-service/shader/image_refusal.hpp"
#include "tests/gpu-service/shader/image/image_program.hpp"

namespace orrery::shader::image_test {
namespace {

// One access with this T# and S#: refused alike where the program runs and in the interpreter.
void expect_refused(const std::string& text, const TSharp& image, const SSharp& sampler, ImageRefusal reason) {
  RoundsProgram p{.body = text, .rounds = {{image, sampler}}, .input = {}, .texels = memory_test::random_words(1, 64)};
  const MemoryProgram program = rounds_program(p);
  const uint32_t note = memory_test::image_refusal_note(program);
  EXPECT_EQ(refusal_of_note(note), reason) << text;
  EXPECT_NE(offset_of_note(note), 0u);
  const std::string said = memory_test::interpreter_refusal(program);
  EXPECT_NE(said.find(describe(reason)), std::string::npos) << said;
}

const std::string kLoad = "image_load v[40:43], v[8:9], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D";
const std::string kSample = "image_sample_l v[40:43], v[8:10], s[20:27], s[28:31] dmask:0xf dim:SQ_RSRC_IMG_2D";

TSharp changed(const ImageShape& shape, size_t word, uint32_t bits) {
  TSharp t = t_sharp(shape);
  t[word] |= bits;
  return t;
}
SSharp changed(const SamplerShape& shape, size_t word, uint32_t bits) {
  SSharp s = s_sharp(shape);
  s[word] |= bits;
  return s;
}

TEST(ImageRefusals, of_a_descriptor_have_its_name) {
  expect_refused(kLoad, t_sharp({.type = 14}), {}, ImageRefusal::type);
  expect_refused(kLoad, {}, {}, ImageRefusal::type);
  expect_refused(kLoad, t_sharp({.tiling = 9}), {}, ImageRefusal::tiling);
  expect_refused(kLoad, t_sharp({.format = 1, .tiling = 27}), {}, ImageRefusal::tiling);
  expect_refused(kLoad, changed(ImageShape{}, 6, 1u << 21), {}, ImageRefusal::compressed);
  expect_refused(kLoad, t_sharp({.format = 74}), {}, ImageRefusal::format);
  expect_refused(kLoad, t_sharp({.format = 0}), {}, ImageRefusal::format);
  expect_refused(kLoad, t_sharp({.format = 109}), {}, ImageRefusal::format);
  expect_refused(kLoad, t_sharp({.last = 300}), {}, ImageRefusal::pitch);
  expect_refused("image_load v[40:43], v[8:10], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_3D",
                 t_sharp({.type = 10, .last = 3, .first_layer = 1}), {}, ImageRefusal::slices);
  expect_refused("image_atomic_add v12, v[8:9], s[20:27] dmask:0x1 dim:SQ_RSRC_IMG_2D", t_sharp({.format = 62}), {},
                 ImageRefusal::element_size);
  expect_refused("image_store v[12:15], v[8:9], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D", t_sharp({.type = 15}), {},
                 ImageRefusal::type);
  expect_refused("image_get_resinfo v[40:43], v8, s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D", t_sharp({.type = 3}), {},
                 ImageRefusal::type);
}

TEST(ImageRefusals, of_a_sampler_have_its_name) {
  const ImageShape image;
  expect_refused(kSample, t_sharp({.type = 14}), {}, ImageRefusal::type);
  expect_refused(kSample, changed(image, 1, 3u << 8), {}, ImageRefusal::resource_lod);
  expect_refused(kSample, changed(image, 5, 1u << 23), {}, ImageRefusal::corner_samples);
  const std::string implicit = "image_sample v[40:43], v[8:9], s[20:27], s[28:31] dmask:0xf dim:SQ_RSRC_IMG_2D";
  expect_refused(implicit, t_sharp(image), s_sharp({.magnify = 1}), ImageRefusal::derivatives);
  expect_refused(implicit, t_sharp({.last_level = 1, .max_mip = 1}), s_sharp({.mip_filter = 1}),
                 ImageRefusal::derivatives);
  expect_refused("image_sample_lz v[40:43], v[8:9], s[20:27], s[28:31] dmask:0xf dim:SQ_RSRC_IMG_2D", t_sharp(image),
                 s_sharp({.lod_bias = -1}), ImageRefusal::level_zero_bias);
  expect_refused(kSample, t_sharp(image), s_sharp({.clamp = {0, 6, 0}, .border = 3}), ImageRefusal::border_colour);
  expect_refused(kSample, t_sharp(image), changed(SamplerShape{}, 0, 1u << 29), ImageRefusal::filter_mode);
  expect_refused("image_sample_d v[40:43], v[8:13], s[20:27], s[28:31] dmask:0xf dim:SQ_RSRC_IMG_2D", t_sharp(image),
                 changed({.magnify = 2}, 0, 1u << 9), ImageRefusal::anisotropic);
  expect_refused(kSample, t_sharp(image), s_sharp({.mip_filter = 3}), ImageRefusal::mip_filter);
  expect_refused(kSample, t_sharp(image), changed(SamplerShape{}, 0, 1u << 20), ImageRefusal::degamma);
  expect_refused(kSample, t_sharp(image), s_sharp({.clamp = {2, 1, 0}, .unnormalised = true}),
                 ImageRefusal::unnormalised);
  expect_refused("image_sample_l v[40:43], v[8:11], s[20:27], s[28:31] dmask:0xf dim:SQ_RSRC_IMG_CUBE",
                 t_sharp({.type = 11, .height = 7, .last = 5}), s_sharp({.magnify = 1, .minify = 1}),
                 ImageRefusal::cube_edges);
  expect_refused(kSample, t_sharp({.format = 60}), s_sharp({.magnify = 1, .minify = 1}), ImageRefusal::integer_filter);
}

// Where several apply, the lowest; where several accesses are refused, too.
TEST(ImageRefusals, the_lowest_is_reported) {
  expect_refused(kSample, changed({.format = 60}, 6, 1u << 21), s_sharp({.magnify = 1, .mip_filter = 3}),
                 ImageRefusal::compressed);
  RoundsProgram p{.body = kLoad, .rounds = {}, .input = {}, .texels = {}};
  p.rounds = {{t_sharp({.format = 74})}, {t_sharp({.tiling = 9})}, {t_sharp({.last = 300})}};
  EXPECT_EQ(refusal_of_note(memory_test::image_refusal_note(rounds_program(p))), ImageRefusal::tiling);
}

TEST(ImageRefusals, of_an_instruction_are_known_when_it_is_translated) {
  const auto refused = [](const std::string& text) { return memory_test::refusals({.text = text}); };
  EXPECT_NE(refused("image_get_lod v0, v[0:1], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D")
                .find("level of detail from derivatives"),
            std::string::npos);
  EXPECT_NE(refused("image_load v0, v[0:2], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D_MSAA").find("multisampled images"),
            std::string::npos);
  EXPECT_NE(refused("image_load v0, v[0:1], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D lwe").find("LWE"), std::string::npos);
  EXPECT_NE(refused("image_bvh_intersect_ray v[0:3], v[0:10], s[0:3]").find("ray tracing"), std::string::npos);
}

}  // namespace
}  // namespace orrery::shader::image_test
