#include "gpu-service/shader/interpret/image_sample.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace orrery::shader::interpret {
namespace {

using u32 = uint32_t;
using Type = ImageDescriptor::Type;

enum : uint8_t {
  kWrap,
  kMirror,
  kLastTexel,
  kMirrorOnceLastTexel,
  kHalfBorder,
  kMirrorOnceHalfBorder,
  kBorder,
  kMirrorOnceBorder
};
constexpr int kOutside = -1;  // a texel of the border

bool mirrors_once(uint8_t clamp) { return clamp == 3 || clamp == 5 || clamp == 7; }
bool is_linear(uint8_t filter) { return filter & 1; }

bool is_integer_format(const ImageDescriptor& image) {
  return image.layout->numeric == Numeric::uint || image.layout->numeric == Numeric::sint;
}

int floor_modulo(int i, int n) { return ((i % n) + n) % n; }

// The texel that an index stands for, kOutside for the border.
int wrap(int i, int n, uint8_t clamp, bool linear) {
  switch (clamp) {
    case kWrap:
      return floor_modulo(i, n);
    case kMirror: {
      const int m = floor_modulo(i, 2 * n);
      return m < n ? m : 2 * n - 1 - m;
    }
    default:
      break;
  }
  if (mirrors_once(clamp) && i < 0) i = -1 - i;
  const bool to_border = clamp == kBorder || clamp == kMirrorOnceBorder || (clamp >= kHalfBorder && linear);
  if (i >= 0 && i < n) return i;
  return to_border ? kOutside : std::clamp(i, 0, n - 1);
}

// One dimension's part of a footprint.
struct Axis {
  std::array<int, 2> texel{};
  u32 fraction = 0;  // of the second texel, 1/256
};

Axis axis(float coordinate, int n, int offset, uint8_t clamp, bool linear, bool unnormalised, bool truncates) {
  float u = coordinate;
  if (mirrors_once(clamp)) u = std::fabs(u);
  if (!unnormalised) {
    if (clamp == kWrap) u = u - std::floor(u);
    if (clamp == kMirror) u = u - 2.0f * std::floor(u * 0.5f);
    u = u * static_cast<float>(n);
  }
  if (std::isnan(u)) u = 0;
  u = std::clamp(u, -65536.0f, 65536.0f);
  if (clamp == kHalfBorder || clamp == kMirrorOnceHalfBorder) u = std::clamp(u, 0.0f, static_cast<float>(n));
  if (linear) u = u - 0.5f;
  const int fixed = static_cast<int>(std::floor(truncates ? u * 256.0f : u * 256.0f + 0.5f));
  const int first = (fixed >> 8) + offset;
  Axis a;
  a.texel = {wrap(first, n, clamp, linear), wrap(first + 1, n, clamp, linear)};
  a.fraction = static_cast<u32>(fixed & 255);
  return a;
}

int to_256ths(float level) {
  if (std::isnan(level)) return 0;
  return static_cast<int>(std::floor(std::clamp(level, -32.0f, 32.0f) * 256.0f + 0.5f));
}

// By dimension: those that are filtered.
unsigned dimensions(const ImageDescriptor& image) { return image.is(Type::d3) ? 3 : image.has_rows() ? 2 : 1; }

struct Levels {
  u32 first = 0, second = 0;
  u32 fraction = 0;
  bool magnifies = false;
};

Levels levels_of(const Sampling& s, const SampleAddress& address) {
  const auto& image = s.image;
  int level = 0;
  if (s.form.gradient_count != 0) {
    const unsigned count = s.form.gradient_count / 2u;
    float longest = 0;
    for (unsigned direction = 0; direction < 2; ++direction) {
      float squared = 0;
      for (unsigned d = 0; d < count; ++d) {
        const u32 size = d == 0   ? image.level_width(image.base_level)
                         : d == 1 ? image.level_height(image.base_level)
                                  : image.level_depth(image.base_level);
        const float g = address.gradients[direction * count + d] * (s.unnormalised ? 1.0f : static_cast<float>(size));
        squared = squared + g * g;
      }
      longest = squared > longest ? squared : longest;
    }
    level = level_of_length_squared(longest);
  } else if (!s.form.zero_level && !s.form.implicit_level) {
    level = to_256ths(address.level);
  }
  int least = static_cast<int>(s.sampler.min_lod);
  if (s.form.clamp && !s.form.implicit_level) least = std::max(least, to_256ths(address.clamp));
  level = std::min(std::max(level + s.sampler.lod_bias, least), static_cast<int>(s.sampler.max_lod));
  Levels l;
  l.magnifies = level <= 0;
  level = std::max(level, 0);
  const u32 range = image.last_level - std::min(image.base_level, image.last_level);
  u32 relative = 0;
  if (s.form.kind == ImageForm::Kind::gather || s.sampler.mip_filter == 1) {
    relative = s.sampler.mip_filter == 0 ? 0 : static_cast<u32>(level + 128) >> 8;
  } else if (s.sampler.mip_filter == 2) {
    relative = static_cast<u32>(level) >> 8;
    l.fraction = static_cast<u32>(level) & 255;
  }
  if (relative >= range) l.fraction = 0;
  l.first = image.base_level + std::min(relative, range);
  l.second = image.base_level + std::min(relative + 1, range);
  return l;
}

bool compares(uint8_t function, float reference, float texel) {
  switch (function) {
    case 0:
      return false;
    case 1:
      return reference < texel;
    case 2:
      return reference == texel;
    case 3:
      return reference <= texel;
    case 4:
      return reference > texel;
    case 5:
      return reference < texel || reference > texel;
    case 6:
      return reference >= texel;
    default:
      return true;
  }
}

std::array<u32, 4> border_colour(const Sampling& s) {
  const u32 one = is_integer_format(s.image) ? 1u : std::bit_cast<u32>(1.0f);
  const u32 alpha = s.sampler.border == 0 ? 0 : one, colour = s.sampler.border == 2 ? one : 0;
  return {colour, colour, colour, alpha};
}

// Components of a texel, compared when the instruction compares.
std::array<u32, 4> texel(const Sampling& s, const SampleAddress& address, u32 level, const std::array<int, 3>& at,
                         u32 layer) {
  std::array<u32, 4> components{};
  if (at[0] == kOutside || at[1] == kOutside || at[2] == kOutside) {
    components = border_colour(s);
  } else {
    const u32 slice = s.image.is(Type::d3) ? static_cast<u32>(at[2]) : layer;
    components = unpack(*s.image.layout,
                        s.load(s.image.address(level, static_cast<u32>(at[0]), static_cast<u32>(at[1]), slice)));
  }
  if (!s.form.compare) return components;
  float reference = address.compare;
  if (s.image.layout->numeric == Numeric::unorm) {
    reference = reference > 0 ? std::min(reference, 1.0f) : 0.0f;
  }
  const bool passes = compares(s.sampler.compare, reference, std::bit_cast<float>(components[0]));
  return {std::bit_cast<u32>(passes ? 1.0f : 0.0f), 0, 0, std::bit_cast<u32>(1.0f)};
}

// The layer, BASE_ARRAY included; a cube's is six per cube and one per face, its coordinate eight and one.
u32 layer_of(const Sampling& s, const SampleAddress& address) {
  const auto& image = s.image;
  if (!image.is_array()) return image.first_layer;
  const float rounded = std::isnan(address.coordinates[2]) ? 0.0f : std::nearbyint(address.coordinates[2]);
  u32 layer = static_cast<u32>(std::clamp(rounded, 0.0f, 65535.0f));
  if (image.is(Type::cube)) layer = layer / 8 * 6 + layer % 8;
  return std::min(image.first_layer + layer, std::max(image.depth_field, image.first_layer));
}

}  // namespace

int32_t level_of_length_squared(float squared) {
  if (!(squared > 0)) return -32 * 256;
  const double level = std::floor(std::log2(static_cast<double>(squared)) * 256.0);
  return (static_cast<int>(std::clamp(level, -64.0 * 256, 64.0 * 256)) + 1) >> 1;
}

ImageRefusal refusal(const Sampling& s) {
  const auto& image = s.image;
  const auto& sampler = s.sampler;
  if (const auto reason = image.refusal(); reason != ImageRefusal::none) return reason;
  if (image.words[1] >> 8 & 0xfff) return ImageRefusal::resource_lod;
  if (image.words[5] >> 23 & 1) return ImageRefusal::corner_samples;
  const bool gathers = s.form.kind == ImageForm::Kind::gather;
  const bool same_filter = is_linear(sampler.magnify) == is_linear(sampler.minify) || gathers;
  const bool one_level = image.base_level >= image.last_level || sampler.mip_filter == 0;
  if (s.form.implicit_level && !(same_filter && one_level)) return ImageRefusal::derivatives;
  if (s.form.zero_level && sampler.lod_bias != 0) return ImageRefusal::level_zero_bias;
  const unsigned count = dimensions(image);
  bool borders = false, unsuitable = false;
  for (unsigned d = 0; d < count; ++d) {
    borders |= sampler.clamp[d] >= kHalfBorder;
    unsuitable |= sampler.clamp[d] < kLastTexel || mirrors_once(sampler.clamp[d]);
  }
  if (borders && sampler.border == 3) return ImageRefusal::border_colour;
  if (sampler.filter_mode != 0) return ImageRefusal::filter_mode;
  const bool anisotropic = sampler.max_anisotropy != 0 && (sampler.magnify >= 2 || sampler.minify >= 2);
  if (anisotropic && s.form.gradient_count != 0) return ImageRefusal::anisotropic;
  if (sampler.mip_filter == 3) return ImageRefusal::mip_filter;
  if (sampler.degamma) return ImageRefusal::degamma;
  if (s.unnormalised && (unsuitable || image.base_level < image.last_level)) return ImageRefusal::unnormalised;
  const bool linear =
      is_linear(sampler.magnify) || is_linear(sampler.minify) || (sampler.z_filter == 2 && image.is(Type::d3));
  if (image.is(Type::cube) && !sampler.no_cube_wrap && (linear || gathers)) return ImageRefusal::cube_edges;
  if (is_integer_format(image) && (linear || sampler.mip_filter == 2) && !gathers) return ImageRefusal::integer_filter;
  return ImageRefusal::none;
}

std::array<u32, 4> sample(const Sampling& s, const SampleAddress& address) {
  const auto& image = s.image;
  const bool gathers = s.form.kind == ImageForm::Kind::gather;
  const Levels levels = levels_of(s, address);
  const bool linear = gathers || is_linear(levels.magnifies ? s.sampler.magnify : s.sampler.minify);
  const bool linear_z = s.sampler.z_filter == 0 ? linear : s.sampler.z_filter == 2;
  const bool is_cube = image.is(Type::cube);
  const u32 layer = layer_of(s, address);
  const unsigned count = dimensions(image);
  // One level's footprint.
  auto footprint = [&](u32 level) {
    const std::array<u32, 3> size{image.level_width(level), image.level_height(level), image.level_depth(level)};
    std::array<Axis, 3> axes{};
    for (unsigned d = 0; d < count; ++d) {
      const float coordinate = address.coordinates[d] - (is_cube ? 1.0f : 0.0f);
      const uint8_t clamp = is_cube && !s.sampler.no_cube_wrap ? uint8_t{kLastTexel} : s.sampler.clamp[d];
      axes[d] = axis(coordinate, static_cast<int>(size[d]), address.offset[d], clamp, d == 2 ? linear_z : linear,
                     s.unnormalised, s.sampler.truncates);
    }
    return axes;
  };
  if (gathers) {
    const auto axes = footprint(levels.first);
    const unsigned component = s.dmask == 0 ? 0 : static_cast<unsigned>(std::countr_zero(s.dmask));
    constexpr unsigned kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    std::array<u32, 4> results{};
    for (unsigned n = 0; n < 4; ++n) {
      const auto components =
          texel(s, address, levels.first,
                {axes[0].texel[kOrder[n][0]], count > 1 ? axes[1].texel[kOrder[n][1]] : 0, axes[2].texel[0]}, layer);
      results[n] = select(*image.layout, components, image.select)[component];
    }
    return results;
  }
  std::array<float, 4> sum{};
  std::array<u32, 4> only{};
  unsigned texels = 0;
  for (unsigned mip = 0; mip < (levels.fraction != 0 ? 2u : 1u); ++mip) {
    const u32 level = mip == 0 ? levels.first : levels.second;
    const auto axes = footprint(level);
    for (unsigned z = 0; z < (count > 2 && linear_z ? 2u : 1u); ++z) {
      for (unsigned y = 0; y < (count > 1 && linear ? 2u : 1u); ++y) {
        for (unsigned x = 0; x < (linear ? 2u : 1u); ++x) {
          auto part = [](bool filtered, unsigned n, u32 fraction) {
            return !filtered ? 1.0f : static_cast<float>(n == 0 ? 256 - fraction : fraction) * (1.0f / 256);
          };
          const float weight = part(linear, x, axes[0].fraction) * part(count > 1 && linear, y, axes[1].fraction) *
                               part(count > 2 && linear_z, z, axes[2].fraction) *
                               part(levels.fraction != 0, mip, levels.fraction);
          only = texel(s, address, level, {axes[0].texel[x], axes[1].texel[y], axes[2].texel[z]}, layer);
          ++texels;
          for (unsigned c = 0; c < 4; ++c) sum[c] = sum[c] + weight * std::bit_cast<float>(only[c]);
        }
      }
    }
  }
  std::array<u32, 4> filtered{};
  for (unsigned c = 0; c < 4; ++c) filtered[c] = texels == 1 ? only[c] : std::bit_cast<u32>(sum[c]);
  return select(*image.layout, filtered, image.select);
}

}  // namespace orrery::shader::interpret
