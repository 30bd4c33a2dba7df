#include "gpu-service/shader/interpret/image_descriptor.hpp"

#include <algorithm>

namespace orrery::shader::interpret {
namespace {

using u32 = uint32_t;

constexpr u32 kLinear = 0, k64KbRX = 27;

u32 field(u32 word, unsigned first, unsigned bits) { return word >> first & ((1u << bits) - 1); }

// Dword of a pixel within its 64 KiB block of 128 x 128 pixels of 32 bits: what each bit of a coordinate adds
// (exclusive or). Solved from captured render targets and the scan-out order of a public driver.
constexpr u32 kTiledX[] = {0x1, 0x2, 0x20, 0x40, 0x880, 0x200, 0x2100};
constexpr u32 kTiledY[] = {0x4, 0x8, 0x10, 0x440, 0x80, 0x100, 0x1200};

u32 tiled_dword(u32 x, u32 y) {
  u32 dword = 0;
  for (unsigned bit = 0; bit < 7; ++bit) {
    dword ^= (x >> bit & 1 ? kTiledX[bit] : 0) ^ (y >> bit & 1 ? kTiledY[bit] : 0);
  }
  return dword;
}

}  // namespace

ImageDescriptor ImageDescriptor::read(std::span<const u32> words) {
  ImageDescriptor d;
  std::copy(words.begin(), words.end(), d.words.begin());
  d.base = uint64_t{words[0]} << 8 | uint64_t{field(words[1], 0, 8)} << 40;
  d.format = field(words[1], 20, 9);
  d.width = (words[1] >> 30 | field(words[2], 0, 12) << 2) + 1;
  d.height = field(words[2], 14, 14) + 1;
  d.select = field(words[3], 0, 12);
  d.base_level = field(words[3], 12, 4);
  d.last_level = field(words[3], 16, 4);
  d.tiling = field(words[3], 20, 5);
  d.type = static_cast<uint8_t>(words[3] >> 28);
  d.depth_field = field(d.words[4], 0, 13);
  d.first_layer = field(d.words[4], 16, 13);
  d.max_mip = field(d.words[5], 4, 4);
  d.layout = d.format < 78 ? element_layout(d.format) : std::nullopt;
  return d;
}

ImageRefusal ImageDescriptor::refusal() const {
  const bool flat = is(Type::d1) || is(Type::d2);
  if (type < static_cast<uint8_t>(Type::d1) || type > static_cast<uint8_t>(Type::d2_array)) return ImageRefusal::type;
  const bool tiled_form = is(Type::d2) && max_mip == 0 && first_layer == 0 && layout && layout->bytes() == 4;
  if (tiling != kLinear && !(tiling == k64KbRX && tiled_form)) return ImageRefusal::tiling;
  if (field(words[6], 21, 1)) return ImageRefusal::compressed;
  if (!layout || layout->bytes() == 12) return ImageRefusal::format;
  const u32 own_pitch = field(words[4], 0, 14);
  if (flat && tiling == kLinear && own_pitch != 0 && uint64_t{own_pitch + 1} * layout->bytes() != pitch_bytes(0))
    return ImageRefusal::pitch;
  if (is(Type::d3) && first_layer != 0) return ImageRefusal::slices;
  return ImageRefusal::none;
}

// Rows of linear images are padded to 256 bytes.
uint64_t ImageDescriptor::pitch_bytes(u32 level) const {
  return (uint64_t{level_width(level)} * layout->bytes() + 255) / 256 * 256;
}

// Linear: a slice holds all its levels, the smallest first; slices follow each other. A 3D image has as many slices in
// every level as in level 0 (AMD's public address library).
uint64_t ImageDescriptor::address(u32 level, u32 x, u32 y, u32 slice) const {
  if (tiling == k64KbRX) {
    const u32 blocks = (width + 127) / 128;
    const uint64_t block = uint64_t{y / 128} * blocks + x / 128;
    return base + block * 65536 + uint64_t{tiled_dword(x % 128, y % 128)} * 4;
  }
  uint64_t slice_bytes = 0, level_offset = 0;
  for (u32 n = max_mip + 1; n-- > 0;) {
    if (n == level) level_offset = slice_bytes;
    slice_bytes += pitch_bytes(n) * level_height(n);
  }
  return base + slice * slice_bytes + level_offset + y * pitch_bytes(level) + uint64_t{x} * layout->bytes();
}

SamplerDescriptor SamplerDescriptor::read(std::span<const u32> words) {
  SamplerDescriptor s;
  for (unsigned axis = 0; axis < 3; ++axis) s.clamp[axis] = static_cast<uint8_t>(field(words[0], 3 * axis, 3));
  s.max_anisotropy = static_cast<uint8_t>(field(words[0], 9, 3));
  s.compare = static_cast<uint8_t>(field(words[0], 12, 3));
  s.unnormalised = field(words[0], 15, 1);
  s.degamma = field(words[0], 20, 1);
  s.truncates = field(words[0], 27, 1);
  s.no_cube_wrap = field(words[0], 28, 1);
  s.filter_mode = static_cast<uint8_t>(field(words[0], 29, 2));
  s.min_lod = field(words[1], 0, 12);
  s.max_lod = field(words[1], 12, 12);
  s.lod_bias = static_cast<int32_t>(words[2] << 18) >> 18;
  s.magnify = static_cast<uint8_t>(field(words[2], 20, 2));
  s.minify = static_cast<uint8_t>(field(words[2], 22, 2));
  s.z_filter = static_cast<uint8_t>(field(words[2], 24, 2));
  s.mip_filter = static_cast<uint8_t>(field(words[2], 26, 2));
  s.border = static_cast<uint8_t>(words[3] >> 30);
  return s;
}

}  // namespace orrery::shader::interpret
