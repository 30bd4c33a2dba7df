#include "tests/gpu-service/shader/image/random_images.hpp"

#include <bit>
#include <limits>

#include "gpu-service/shader/interpret/image_sample.hpp"

namespace orrery::shader::image_test {
namespace {

constexpr uint32_t kTypes[] = {8, 9, 10, 11, 12, 13};  // by DIM
constexpr uint32_t kFiltered[] = {1,  2,  7,  8,  13, 14, 15, 22, 23, 24, 29, 36,
                                  43, 44, 45, 50, 56, 57, 64, 65, 66, 71, 77};
constexpr uint32_t kIntegers[] = {5, 6, 20, 21, 27, 48, 60, 61, 69, 75};

}  // namespace

RandomImages::RandomImages(uint32_t seed, const std::string& instruction, const std::string& processor)
    : random_(seed), writer_(instruction, processor) {}

std::vector<uint32_t> RandomImages::texels(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> words(kTexelBytes / 4);
  for (uint32_t& word : words) {
    const uint32_t bits = static_cast<uint32_t>(random());
    // An exponent near 0 for f32 and for both halves; a bit of each exponent of the packed floats is 0.
    word = (bits & 0x81ff83ff) | 0x3c000000 | (8 + (bits >> 10) % 14) << 10;
    word &= ~(1u << 17 | 1u << 16 | 1u << 6 | 1u << 5);
  }
  return words;
}

float RandomImages::between(float low, float high) {
  return low + (high - low) * static_cast<float>(random_() >> 8) * 0x1p-24f;
}

ImageShape RandomImages::image() {
  ImageShape s;
  s.type = kTypes[writer_.instruction().dim];
  s.format = one_in(4) ? kIntegers[below(std::size(kIntegers))] : kFiltered[below(std::size(kFiltered))];
  const uint32_t most = s.type == 8 || s.type == 12 ? 200 : s.type == 9 || s.type == 13 ? 40 : 12;
  s.width = 1 + below(most);
  s.height = s.type == 11 ? s.width : s.type == 8 || s.type == 12 ? 1 : 1 + below(most);
  if (s.type >= 10) s.last = s.type == 11 ? 5 + 6 * below(2) : below(6);
  if (s.type > 11) s.first_layer = below(s.last + 1);
  if (!one_in(3)) {
    s.max_mip = below(static_cast<uint32_t>(std::bit_width(std::max(s.width, s.height))));
    s.last_level = below(s.max_mip + 1);
    s.base_level = below(s.last_level + 1);
  }
  if (one_in(4)) s.select = below(0x1000);
  s.offset = below(64) * 256;
  if (s.type == 9 && one_in(6)) {
    constexpr uint32_t k64KbRX = 27;
    s.max_mip = s.last_level = s.base_level = 0;
    s.format = one_in(2) ? 56 : 22;
    s.width = 1 + below(180);
    s.tiling = k64KbRX;
  }
  return s;
}

SamplerShape RandomImages::sampler() {
  SamplerShape s;
  for (uint32_t& clamp : s.clamp) clamp = below(8);
  s.compare = below(8);
  s.border = below(3);
  s.magnify = below(2);
  s.minify = one_in(2) ? s.magnify : below(2);
  s.z_filter = below(3);
  s.mip_filter = below(3);
  s.unnormalised = one_in(6);
  s.truncates = one_in(3);
  s.no_cube_wrap = one_in(2);
  if (one_in(3)) s.min_lod = below(0x400);
  if (one_in(3)) s.max_lod = s.min_lod + below(0x400);
  if (one_in(3)) s.lod_bias = static_cast<int32_t>(below(0x600)) - 0x300;
  return s;
}

Round RandomImages::round() {
  const Instruction& instruction = writer_.instruction();
  for (;;) {
    const ImageShape shape = image();
    SamplerShape with = sampler();
    if (writer_.form().zero_level) with.lod_bias = 0;
    const Round round{t_sharp(shape), s_sharp(with)};
    const auto descriptor = interpret::ImageDescriptor::read(round.image);
    const auto sampler_descriptor = interpret::SamplerDescriptor::read(round.sampler);
    const bool unnormalised = instruction.unorm || with.unnormalised;
    const interpret::Sampling sampling{.image = descriptor,
                                       .sampler = sampler_descriptor,
                                       .form = writer_.form(),
                                       .unnormalised = unnormalised,
                                       .dmask = instruction.dmask,
                                       .load = {}};
    if (interpret::refusal(sampling) != ImageRefusal::none) continue;
    made_.push_back({shape, unnormalised});
    return round;
  }
}

float RandomImages::coordinate(bool unnormalised, uint32_t size) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kEdges[] = {0.0f,      -0.0f,    1.0f,      0.5f,       -1.0f,
                              1e30f,     -1e30f,   kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                              0x1p-140f, 65536.0f, -65537.0f};
  const auto n = static_cast<float>(size);
  if (one_in(12)) return kEdges[below(std::size(kEdges))];
  if (unnormalised) return between(-3, n + 3);
  if (one_in(4)) return static_cast<float>(static_cast<int>(below(4 * size)) - static_cast<int>(size)) / n;  // an edge
  return between(-2.5f, 3.5f);
}

void RandomImages::input(size_t round, std::span<uint32_t, 16> input) {
  const Made& made = made_[round];
  const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
  AddressValues values;
  const bool cube = made.image.type == 11;
  values.coordinates = {bits(coordinate(made.unnormalised, made.image.width) + (cube ? 1.0f : 0.0f)),
                        bits(coordinate(made.unnormalised, made.image.height) + (cube ? 1.0f : 0.0f)),
                        bits(coordinate(made.unnormalised, made.image.last + 1))};
  if (made.image.type > 10) values.coordinates[2] = bits(between(-1, 8));
  if (cube) values.coordinates[2] = bits(static_cast<float>(below(6) + 8 * below(2)));
  values.offset = static_cast<uint32_t>(random_());
  values.bias = bits(between(-2, 2));
  values.compare = bits(between(-0.5f, 1.5f));
  values.level = bits(one_in(16) ? std::numeric_limits<float>::quiet_NaN() : between(-2, 7));
  values.clamp = bits(between(-1, 5));
  for (uint32_t& gradient : values.gradients) {
    gradient = one_in(8) ? 0 : bits(between(-1, 1) * std::bit_cast<float>((127 - 8 + below(10)) << 23));
  }
  writer_.write(values, input);
}

}  // namespace orrery::shader::image_test
