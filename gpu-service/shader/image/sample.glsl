// What a sample or gather does with one lane's address: level, footprint, filter. In compute a level never follows from
// derivatives.
// S#: CLAMP_X and the like.
const uint kWrap = 0, kMirror = 1, kLastTexel = 2, kMirrorOnceLastTexel = 3, kHalfBorder = 4, kMirrorOnceHalfBorder = 5,
           kBorder = 6, kMirrorOnceBorder = 7;
const int kOutside = -1;  // a texel of the border

struct Sampler {
  uvec3 clamp;
  uint max_anisotropy, compare, filter_mode, magnify, minify, z_filter, mip_filter, border;
  bool unnormalised, truncates, degamma, no_cube_wrap;
  int min_lod, max_lod, lod_bias;  // 1/256
};
Sampler sampler_of(const in uvec4 s) {
  Sampler r;
  r.clamp = uvec3(field(s.x, 0, 3), field(s.x, 3, 3), field(s.x, 6, 3));
  r.max_anisotropy = field(s.x, 9, 3);
  r.compare = field(s.x, 12, 3);
  r.unnormalised = field(s.x, 15, 1) != 0;
  r.degamma = field(s.x, 20, 1) != 0;
  r.truncates = field(s.x, 27, 1) != 0;
  r.no_cube_wrap = field(s.x, 28, 1) != 0;
  r.filter_mode = field(s.x, 29, 2);
  r.min_lod = int(field(s.y, 0, 12));
  r.max_lod = int(field(s.y, 12, 12));
  r.lod_bias = bitfieldExtract(int(s.z), 0, 14);
  r.magnify = field(s.z, 20, 2);
  r.minify = field(s.z, 22, 2);
  r.z_filter = field(s.z, 24, 2);
  r.mip_filter = field(s.z, 26, 2);
  r.border = s.w >> 30;
  return r;
}

struct Address {
  vec3 coordinate;
  ivec3 offset;
  float compare, level, clamp;
  vec3 gradients[2];  // by the first screen direction and the second
};

bool is_linear(const in uint filter_bits) { return (filter_bits & 1) != 0; }
bool mirrors_once(const in uint clamp) { return clamp == 3 || clamp == 5 || clamp == 7; }

uint sample_refusal(const in Image image, const in Sampler s, const in uvec4 t0, const in uvec4 t1,
                    const in uint flags) {
  if (image.refusal != 0) return image.refusal;
  if (field(t1.w, 8, 12) != 0) return refuse_resource_lod;
  if (field(t1.y, 23, 1) != 0) return refuse_corner_samples;
  const bool gathers = (flags & kGathers) != 0;
  const bool same_filter = is_linear(s.magnify) == is_linear(s.minify) || gathers;
  const bool one_level = image.base_level >= image.last_level || s.mip_filter == 0;
  if ((flags & kImplicitLevel) != 0 && !(same_filter && one_level)) return refuse_derivatives;
  if ((flags & kZeroLevel) != 0 && s.lod_bias != 0) return refuse_level_zero_bias;
  const uint dimensions = image.type == kType3D ? 3 : image.rows ? 2 : 1;
  bool borders = false, unsuitable = false;
  for (uint d = 0; d < 3; ++d) {
    if (d >= dimensions) continue;
    borders = borders || s.clamp[d] >= kHalfBorder;
    unsuitable = unsuitable || s.clamp[d] < kLastTexel || mirrors_once(s.clamp[d]);
  }
  if (borders && s.border == 3) return refuse_border_colour;
  if (s.filter_mode != 0) return refuse_filter_mode;
  const bool anisotropic = s.max_anisotropy != 0 && (s.magnify >= 2 || s.minify >= 2);
  if (anisotropic && (flags & kHasGradients) != 0) return refuse_anisotropic;
  if (s.mip_filter == 3) return refuse_mip_filter;
  if (s.degamma) return refuse_degamma;
  const bool unnormalised = (flags & kUnnormalised) != 0 || s.unnormalised;
  if (unnormalised && (unsuitable || image.base_level < image.last_level)) return refuse_unnormalised;
  const bool linear =
      is_linear(s.magnify) || is_linear(s.minify) || (s.z_filter == 2 && image.type == kType3D);
  if (image.type == kTypeCube && !s.no_cube_wrap && (linear || gathers)) return refuse_cube_edges;
  if (is_integer(image.format) && (linear || s.mip_filter == 2) && !gathers) return refuse_integer_filter;
  return 0;
}

// In dimensions that wrap an index lies within a period of 0 and n; with an offset, within 64.
int within(const in int i, const in int period, const in bool has_offset) {
  if (has_offset) return int(uint(i + 64 * period) % uint(period));
  return i < 0 ? i + period : i >= period ? i - period : i;
}
// The texel that an index stands for, kOutside for the border.
int wrap(const in int i, const in int n, const in uint clamp_mode, const in bool linear, const in bool has_offset) {
  if (clamp_mode == kWrap) return within(i, n, has_offset);
  if (clamp_mode == kMirror) {
    const int m = within(i, 2 * n, has_offset);
    return m < n ? m : 2 * n - 1 - m;
  }
  const int index = mirrors_once(clamp_mode) && i < 0 ? -1 - i : i;
  const bool to_border =
      clamp_mode == kBorder || clamp_mode == kMirrorOnceBorder || (clamp_mode >= kHalfBorder && linear);
  return to_border && (index < 0 || index >= n) ? kOutside : clamp(index, 0, n - 1);
}

float clamped(const in float v, const in float low, const in float high) { return v < low ? low : v > high ? high : v; }

// One dimension's part of a footprint: two texels, and the second's share in 1/256.
ivec3 axis(const in float coordinate, const in int n, const in int offset, const in uint clamp_mode,
           const in bool linear, const in bool unnormalised, const in bool truncates) {
  float u = coordinate;
  if (mirrors_once(clamp_mode)) u = abs(u);
  if (!unnormalised) {
    if (clamp_mode == kWrap) u = u - floor(u);
    if (clamp_mode == kMirror) u = u - 2.0 * floor(u * 0.5);
    u = u * float(n);
  }
  if (is_nan(u)) u = 0.0;
  u = clamped(u, -65536.0, 65536.0);
  if (clamp_mode == kHalfBorder || clamp_mode == kMirrorOnceHalfBorder) u = clamped(u, 0.0, float(n));
  if (linear) u = u - 0.5;
  const float scaled = u * 256.0;
  const int fixed_point = int(floor(truncates ? scaled : scaled + 0.5));
  const int first = (fixed_point >> 8) + offset;
  return ivec3(wrap(first, n, clamp_mode, linear, offset != 0), wrap(first + 1, n, clamp_mode, linear, offset != 0),
               fixed_point & 255);
}

int to_256ths(const in float level) {
  return is_nan(level) ? 0 : int(floor(clamped(level, -32.0, 32.0) * 256.0 + 0.5));
}

// 256 log2(sqrt(squared)), to the nearest integer; -32 * 256 at 0. Eight squarings give eight bits of the logarithm
// (tried on both sides of every step).
int level_of_length_squared(const in float squared) {
  if (!(squared > 0.0)) return -32 * 256;
  const uint bits = floatBitsToUint(squared);
  const int exponent = clamp(int(bits >> 23) - 127, -64, 64);
  uint rest = bits << 9;  // the mantissa is 1 + rest / 2^32
  int digits = 0;
  for (int n = 0; n < 8; ++n) {
    uint64_t square = 2 * uint64_t(rest) + (uint64_t(rest) * rest + 0x80000000ul >> 32);
    digits <<= 1;
    if (square >= 0x100000000ul) {
      digits |= 1;
      square = min(square - 0xfffffffful >> 1, 0xfffffffful);
    }
    rest = uint(square);
  }
  return clamp(exponent * 256 + digits, -64 * 256, 64 * 256) + 1 >> 1;
}

struct Levels {
  uint first, second, fraction;
  bool magnifies;
};
Levels levels_of(const in Image image, const in Sampler s, const in Address address, const in uint flags,
                 const in bool unnormalised) {
  int level = 0;
  if ((flags & kHasGradients) != 0) {
    const uint count = flags >> kGradientsShift & 3;
    const vec3 size = unnormalised
                          ? vec3(1.0)
                          : vec3(float(width_of(image, image.base_level)), float(height_of(image, image.base_level)),
                                 float(depth_of(image, image.base_level)));
    float longest = 0.0;
    for (int direction = 0; direction < 2; ++direction) {
      const vec3 g = address.gradients[direction] * size;
      float squared = g.x * g.x;
      if (count > 1) squared = squared + g.y * g.y;
      if (count > 2) squared = squared + g.z * g.z;
      longest = squared > longest ? squared : longest;
    }
    level = level_of_length_squared(longest);
  } else if ((flags & (kZeroLevel | kImplicitLevel)) == 0) {
    level = to_256ths(address.level);
  }
  int least = s.min_lod;
  if ((flags & kHasClamp) != 0 && (flags & kImplicitLevel) == 0) least = max(least, to_256ths(address.clamp));
  level = min(max(level + s.lod_bias, least), s.max_lod);
  Levels l;
  l.magnifies = level <= 0;
  level = max(level, 0);
  const uint range = image.last_level - min(image.base_level, image.last_level);
  uint relative = 0;
  l.fraction = 0;
  if ((flags & kGathers) != 0 || s.mip_filter == 1) {
    relative = s.mip_filter == 0 ? 0 : uint(level + 128) >> 8;
  } else if (s.mip_filter == 2) {
    relative = uint(level) >> 8;
    l.fraction = uint(level) & 255;
  }
  if (relative >= range) l.fraction = 0;
  l.first = image.base_level + min(relative, range);
  l.second = image.base_level + min(relative + 1, range);
  return l;
}

bool compares(const in uint how, const in float reference, const in float texel) {
  switch (how) {
    case 0: return false;
    case 1: return reference < texel;
    case 2: return reference == texel;
    case 3: return reference <= texel;
    case 4: return reference > texel;
    case 5: return reference < texel || reference > texel;
    case 6: return reference >= texel;
  }
  return true;
}

// The layer, BASE_ARRAY included; a cube's is six per cube and one per face, its coordinate eight and one.
uint layer_of(const in Image image, const in Address address) {
  if (!image.layers) return image.first_layer;
  const float z = address.coordinate.z;
  uint layer = uint(clamped(is_nan(z) ? 0.0 : roundEven(z), 0.0, 65535.0));
  if (image.type == kTypeCube) layer = layer / 8 * 6 + layer % 8;
  return min(image.first_layer + layer, max(image.depth, image.first_layer));
}

// Components of a texel, compared when the instruction compares.
uvec4 texel(const in Image image, const in Sampler s, const in Level l, const in ivec3 at, const in uint layer,
            const in uint flags, const in float compare, const in uint where) {
  uvec4 components;
  if (at.x == kOutside || at.y == kOutside || at.z == kOutside) {
    const uint one = one_of(image.format), alpha = s.border == 0 ? 0 : one, colour = s.border == 2 ? one : 0;
    components = uvec4(colour, colour, colour, alpha);
  } else {
    const uint slice = image.type == kType3D ? uint(at.z) : layer;
    const uint64_t address = address_of(image, l, uint(at.x), uint(at.y), slice);
    components = unpack(image.format, load_element(address, image.format.bytes, where));
  }
  if ((flags & kCompares) == 0) return components;
  float reference = compare;
  if (image.format.numeric == kUnorm) reference = reference > 0.0 ? (reference > 1.0 ? 1.0 : reference) : 0.0;
  return uvec4(compares(s.compare, reference, uintBitsToFloat(components.x)) ? kOne : 0, 0, 0, kOne);
}

struct Footprint {
  ivec3 x, y, z;
};
Footprint footprint(const in Image image, const in Sampler s, const in Level l, const in Address address,
                    const in bool linear, const in bool linear_z, const in bool unnormalised) {
  const bool cube = image.type == kTypeCube;
  const uvec3 clamp_mode = cube && !s.no_cube_wrap ? uvec3(kLastTexel) : s.clamp;
  const float shift = cube ? 1.0 : 0.0;
  Footprint f;
  f.x = axis(address.coordinate.x - shift, int(l.width), address.offset.x, clamp_mode.x, linear, unnormalised,
             s.truncates);
  f.y = ivec3(0);
  f.z = ivec3(0);
  if (image.rows) {
    f.y = axis(address.coordinate.y - shift, int(l.height), address.offset.y, clamp_mode.y, linear, unnormalised,
               s.truncates);
  }
  if (image.type == kType3D) {
    f.z = axis(address.coordinate.z, int(l.depth), address.offset.z, clamp_mode.z, linear_z, unnormalised,
               s.truncates);
  }
  return f;
}

float share(const in bool filtered, const in uint n, const in uint fraction) {
  return !filtered ? 1.0 : float(n == 0 ? 256 - fraction : fraction) * (1.0 / 256.0);
}

uvec4 gathered(const in Image image, const in Sampler s, const in Address address, const in uint flags,
               const in bool unnormalised, const in uint where) {
  const Levels levels = levels_of(image, s, address, flags, unnormalised);
  const Level l = level_of(image, levels.first);
  const Footprint f = footprint(image, s, l, address, true, s.z_filter == 0 || s.z_filter == 2, unnormalised);
  const uint layer = layer_of(image, address), component = flags >> kComponentShift & 3;
  uvec4 results = uvec4(0);
  for (uint n = 0; n < 4; ++n) {
    count_round();
    // (0, 1), (1, 1), (1, 0), (0, 0)
    const uint x = (n + 1 & 3) >> 1, y = 1 - (n >> 1);
    const ivec3 at = ivec3(f.x[x], f.y[y], f.z.x);
    const uvec4 components = texel(image, s, l, at, layer, flags, address.compare, where);
    results[n] = select(image.format, components, image.select)[component];
  }
  return results;
}

uvec4 filtered(const in Image image, const in Sampler s, const in Address address, const in uint flags,
               const in bool unnormalised, const in uint where) {
  const Levels levels = levels_of(image, s, address, flags, unnormalised);
  const bool linear = is_linear(levels.magnifies ? s.magnify : s.minify);
  const bool linear_y = linear && image.rows;
  const bool linear_z = image.type == kType3D && (s.z_filter == 0 ? linear : s.z_filter == 2);
  const bool two_levels = levels.fraction != 0;
  const uint layer = layer_of(image, address);
  vec4 sum = vec4(0.0);
  uvec4 only = uvec4(0);
  Level l;
  Footprint f;
  // Levels outside, then z, y and x.
  const uint in_level = 1u << (uint(linear) + uint(linear_y) + uint(linear_z));
  const uint count = two_levels ? 2 * in_level : in_level;
  for (uint n = 0; n < count; ++n) {
    count_round();
    const uint mip = n / in_level;
    if ((n & in_level - 1) == 0) {
      l = level_of(image, mip == 0 ? levels.first : levels.second);
      f = footprint(image, s, l, address, linear, linear_z, unnormalised);
    }
    uint rest = n;
    const uint x = linear ? rest & 1 : 0;
    rest = linear ? rest >> 1 : rest;
    const uint y = linear_y ? rest & 1 : 0;
    rest = linear_y ? rest >> 1 : rest;
    const uint z = linear_z ? rest & 1 : 0;
    const float weight = share(linear, x, uint(f.x.z)) * share(linear_y, y, uint(f.y.z)) *
                         share(linear_z, z, uint(f.z.z)) * share(two_levels, mip, levels.fraction);
    only = texel(image, s, l, ivec3(f.x[x], f.y[y], f.z[z]), layer, flags, address.compare, where);
    sum = sum + weight * uintBitsToFloat(only);
  }
  return select(image.format, count == 1 ? only : floatBitsToUint(sum), image.select);
}
