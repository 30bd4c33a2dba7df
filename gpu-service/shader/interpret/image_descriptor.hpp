// T# and S# (AMD's public gfx10 headers: SQ_IMG_RSRC_WORD0..7, SQ_IMG_SAMP_WORD0..3), and where an image's texels lie.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "gpu-service/shader/image_refusal.hpp"
#include "gpu-service/shader/interpret/typed_element.hpp"

namespace orrery::shader::interpret {

struct ImageDescriptor {
  enum class Type : uint8_t { d1 = 8, d2 = 9, d3 = 10, cube = 11, d1_array = 12, d2_array = 13 };
  std::array<uint32_t, 8> words{};
  uint64_t base = 0;
  uint32_t width = 1, height = 1;  // of level 0
  uint32_t depth_field = 0;        // 3D: slices - 1; arrays and cubes: last layer; others: a pitch of its own
  uint32_t first_layer = 0;        // BASE_ARRAY
  uint32_t base_level = 0, last_level = 0, max_mip = 0;
  uint32_t format = 0, select = 0, tiling = 0;
  uint8_t type = 0;
  std::optional<ElementLayout> layout;

  static ImageDescriptor read(std::span<const uint32_t> words);

  bool is(Type t) const { return type == static_cast<uint8_t>(t); }
  bool has_rows() const { return !is(Type::d1) && !is(Type::d1_array); }
  bool is_array() const { return is(Type::d1_array) || is(Type::d2_array) || is(Type::cube); }
  uint32_t level_width(uint32_t level) const { return std::max(width >> level, 1u); }
  uint32_t level_height(uint32_t level) const { return has_rows() ? std::max(height >> level, 1u) : 1; }
  uint32_t level_depth(uint32_t level) const { return is(Type::d3) ? std::max((depth_field + 1) >> level, 1u) : 1; }
  ImageRefusal refusal() const;
  // Of a texel that lies in the image; `slice`: of a 3D image or the layer, BASE_ARRAY included.
  uint64_t address(uint32_t level, uint32_t x, uint32_t y, uint32_t slice) const;

 private:
  uint64_t pitch_bytes(uint32_t level) const;
};

struct SamplerDescriptor {
  std::array<uint8_t, 3> clamp{};
  uint8_t compare = 0, border = 0, filter_mode = 0, max_anisotropy = 0;
  uint8_t magnify = 0, minify = 0, z_filter = 0, mip_filter = 0;
  bool unnormalised = false, truncates = false, degamma = false, no_cube_wrap = false;
  uint32_t min_lod = 0, max_lod = 0;  // 1/256
  int32_t lod_bias = 0;               // 1/256

  static SamplerDescriptor read(std::span<const uint32_t> words);
};

}  // namespace orrery::shader::interpret
