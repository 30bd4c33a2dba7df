// A T# and where its texels lie. Facts: RDNA 2 ISA document, image resource descriptor; linear layout: AMD's public
// address library; 64KB_R_X: solved from captured render targets and the scan-out order of a public driver.
const uint kType1D = 8, kType2D = 9, kType3D = 10, kTypeCube = 11, kType1DArray = 12, kType2DArray = 13;
const uint kLinear = 0, k64KbRX = 27;
#define ORRERY_IMAGE_REFUSAL(number, name) const uint refuse_##name = number;
#include "refusals.inc"

struct Image {
  uint64_t base;
  uint width, height;  // of level 0
  uint depth;          // 3D: slices - 1; arrays and cubes: last layer; others: a pitch of its own
  uint first_layer, base_level, last_level, max_mip;
  uint select, tiling, type;
  bool rows, layers;
  Format format;
  uint refusal;
};
struct Level {
  uint width, height, depth, pitch;  // pitch: bytes
  uint64_t start;                    // bytes from a slice's beginning
  uint64_t slice_bytes;              // of a slice with all its levels
};

uint field(const in uint word, const in int first, const in int bits) { return bitfieldExtract(word, first, bits); }

uint refusal_of(const in Image image, const in uvec4 t0, const in uvec4 t1) {
  if (image.type < kType1D || image.type > kType2DArray) return refuse_type;
  if (image.tiling != kLinear) {
    const bool known = image.tiling == k64KbRX && image.type == kType2D && image.max_mip == 0 &&
                       image.first_layer == 0 && image.format.bytes == 4;
    if (!known) return refuse_tiling;
  }
  if (field(t1.z, 21, 1) != 0) return refuse_compressed;
  if (image.format.bytes == 0 || image.format.bytes == 12) return refuse_format;
  const uint pitch = field(t1.x, 0, 14);
  const bool single = image.type == kType1D || image.type == kType2D;
  if (single && image.tiling == kLinear && pitch != 0 &&
      (pitch + 1) * image.format.bytes != (image.width * image.format.bytes + 255 & ~255u)) {
    return refuse_pitch;
  }
  return image.type == kType3D && image.first_layer != 0 ? refuse_slices : 0;
}

// The last word of t1 is t0.y once more, for what may be known when the module is compiled.
Image image_of(const in uvec4 t0, const in uvec4 t1) {
  Image image;
  image.base = uint64_t(t0.x) << 8 | uint64_t(field(t0.y, 0, 8)) << 40;
  image.format = format_of(field(t1.w, 20, 9));
  image.width = (t0.y >> 30 | field(t0.z, 0, 12) << 2) + 1;
  image.height = field(t0.z, 14, 14) + 1;
  image.select = field(t0.w, 0, 12);
  image.base_level = field(t0.w, 12, 4);
  image.last_level = field(t0.w, 16, 4);
  image.tiling = field(t0.w, 20, 5);
  image.type = t0.w >> 28;
  image.depth = field(t1.x, 0, 13);
  image.first_layer = field(t1.x, 16, 13);
  image.max_mip = field(t1.y, 4, 4);
  image.rows = image.type != kType1D && image.type != kType1DArray;
  image.layers = image.type == kTypeCube || image.type == kType1DArray || image.type == kType2DArray;
  image.refusal = refusal_of(image, t0, t1);
  return image;
}

uint width_of(const in Image image, const in uint level) { return max(image.width >> level, 1); }
uint height_of(const in Image image, const in uint level) { return image.rows ? max(image.height >> level, 1) : 1; }
uint depth_of(const in Image image, const in uint level) {
  return image.type == kType3D ? max(image.depth + 1 >> level, 1) : 1;
}
// Rows of linear images are padded to 256 bytes.
uint pitch_of(const in Image image, const in uint level) {
  return width_of(image, level) * image.format.bytes + 255 & ~255u;
}

// Linear: a slice holds all its levels, the smallest first; slices follow each other. A 3D image has as many slices in
// every level as in level 0.
Level level_of(const in Image image, const in uint level) {
  Level l;
  l.width = width_of(image, level);
  l.height = height_of(image, level);
  l.depth = depth_of(image, level);
  l.pitch = pitch_of(image, level);
  l.start = 0;
  l.slice_bytes = 0;
  if (image.max_mip == 0) {
    l.slice_bytes = uint64_t(pitch_of(image, 0)) * height_of(image, 0);
  } else {
    for (int n = int(image.max_mip); n >= 0; --n) {
      count_round();
      if (uint(n) == level) l.start = l.slice_bytes;
      l.slice_bytes += uint64_t(pitch_of(image, uint(n))) * height_of(image, uint(n));
    }
  }
  return l;
}

// Dword of a pixel within its 64 KiB block of 128 x 128 pixels of 32 bits: what each bit of a coordinate adds
// (exclusive or).
uint tiled_dword(const in uint x, const in uint y) {
  const uint of_x = (x & 3) ^ (x & 12) << 3 ^ (x >> 4 & 1) * 0x880 ^ (x & 32) << 4 ^ (x >> 6 & 1) * 0x2100;
  const uint of_y = (y & 7) << 2 ^ (y >> 3 & 1) * 0x440 ^ (y & 48) << 3 ^ (y >> 6 & 1) * 0x1200;
  return of_x ^ of_y;
}

// Of a texel that lies in the image; `slice`: of a 3D image or the layer, BASE_ARRAY included.
uint64_t address_of(const in Image image, const in Level l, const in uint x, const in uint y, const in uint slice) {
  if (image.tiling == k64KbRX) {
    const uint block = (y >> 7) * (image.width + 127 >> 7) + (x >> 7);
    return image.base + (uint64_t(block) << 16) + tiled_dword(x & 127, y & 127) * 4;
  }
  return image.base + slice * l.slice_bytes + l.start + uint64_t(y) * l.pitch + x * image.format.bytes;
}
