// Image instructions as functions that modules call (spirv/image_library.cpp links them in). A T# is eight words, an S#
// four; coordinates and results are register contents. main() is only here for the compiler.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#include "memory.glsl"
#define ORRERY_IMAGE_FLAG(name, value) const uint name = value;
#include "flags.inc"
#include "element.glsl"
#include "descriptor.glsl"
#include "sample.glsl"

#define T_SHARP                                                                                                  \
  const in uint t0, const in uint t1, const in uint t2, const in uint t3, const in uint t4, const in uint t5, \
      const in uint t6, const in uint t7
#define S_SHARP const in uint s0, const in uint s1, const in uint s2, const in uint s3
#define T_LOW uvec4(t0, t1, t2, t3)
#define T_HIGH uvec4(t4, t5, t6, t7)

// Where a load, store or atomic goes; false: out of the image.
bool place(const in Image image, const in uint x, const in uint given_y, const in uint given_z, const in uint mip,
           out uint64_t address) {
  address = 0;
  const uint level = image.base_level + min(mip, 16);
  const uint y = image.rows ? given_y : 0;
  const uint z = image.layers || image.type == kType3D ? given_z : 0;
  if (level > max(image.base_level, min(image.last_level, image.max_mip))) return false;
  if (x >= width_of(image, level) || y >= height_of(image, level)) return false;
  if (image.type == kType3D && z >= depth_of(image, level)) return false;
  const uint slice = z + image.first_layer;
  if (image.layers && (slice < z || slice > image.depth)) return false;
  address = address_of(image, level_of(image, level), x, y, slice);
  return true;
}

uvec4 image_load(T_SHARP, const in uint x, const in uint y, const in uint z, const in uint mip, const in uint flags,
                 const in uint where) {
  const Image image = image_of(T_LOW, T_HIGH);
  uint64_t address;
  if (image.refusal != 0) {
    refuse(image.refusal, where);
    return uvec4(0);
  }
  if (!place(image, x, y, z, mip, address)) return uvec4(0);
  const uvec4 element = load_element(address, image.format.bytes, where);
  uvec4 results = element;
  if ((flags & kPacked) == 0) {
    results = select(image.format, unpack(image.format, element), image.select);
  } else if ((flags & kSignExtend) != 0 && image.format.bytes < 4) {
    results.x = uint(bitfieldExtract(int(element.x), 0, int(8 * image.format.bytes)));
  }
  return (flags & kHalves) != 0 ? to_halves(is_integer(image.format), results) : results;
}

void image_store(T_SHARP, const in uint x, const in uint y, const in uint z, const in uint mip, const in uint d0,
                 const in uint d1, const in uint d2, const in uint d3, const in uint flags, const in uint where) {
  const Image image = image_of(T_LOW, T_HIGH);
  uint64_t address;
  if (image.refusal != 0) {
    refuse(image.refusal, where);
    return;
  }
  if (!place(image, x, y, z, mip, address)) return;
  uvec4 values = uvec4(d0, d1, d2, d3);
  if ((flags & kHalves) != 0) values = from_halves(image.format, values);
  if ((flags & kPacked) == 0) values = pack(image.format, unselect(values, image.select));
  store_element(address, image.format.bytes, values, where);
}

// Guest address of an element of `bytes`, 0: nowhere.
uint64_t image_place(T_SHARP, const in uint x, const in uint y, const in uint z, const in uint mip,
                     const in uint bytes, const in uint where) {
  const Image image = image_of(T_LOW, T_HIGH);
  const uint reason = image.refusal != 0                 ? image.refusal
                      : image.format.bytes != bytes ? refuse_element_size
                                                        : 0;
  uint64_t address;
  if (reason != 0) {
    refuse(reason, where);
    return 0;
  }
  return place(image, x, y, z, mip, address) ? address : 0;
}

// Width, height, depth or layers, and how many levels the view has.
uvec4 image_info(T_SHARP, const in uint asked, const in uint flags,
                 const in uint where) {
  const Image image = image_of(T_LOW, T_HIGH);
  if (image.type < kType1D || image.type > kType2DArray) {
    refuse(refuse_type, where);
    return uvec4(0);
  }
  const uint levels = image.last_level - min(image.base_level, image.last_level) + 1;
  if (asked >= levels) return uvec4(0, 0, 0, levels);
  const uint level = image.base_level + asked;
  const uint layers = image.depth - min(image.first_layer, image.depth) + 1;
  return uvec4(width_of(image, level), height_of(image, level), image.layers ? layers : depth_of(image, level),
               levels);
}

uvec4 image_sample(T_SHARP, S_SHARP, const in uint x, const in uint y, const in uint z, const in uint offset,
                   const in uint compare, const in uint level, const in uint clamp_level, const in uint g0,
                   const in uint g1, const in uint g2, const in uint g3, const in uint g4, const in uint g5,
                   const in uint flags, const in uint where) {
  const Image image = image_of(T_LOW, T_HIGH);
  const Sampler s = sampler_of(uvec4(s0, s1, s2, s3));
  const uint reason = sample_refusal(image, s, T_LOW, T_HIGH, flags);
  if (reason != 0) {
    refuse(reason, where);
    return uvec4(0);
  }
  Address address;
  address.coordinate = uintBitsToFloat(uvec3(x, y, z));
  address.offset = ivec3(bitfieldExtract(int(offset), 0, 6), bitfieldExtract(int(offset), 8, 6),
                         bitfieldExtract(int(offset), 16, 6));
  address.compare = uintBitsToFloat(compare);
  address.level = uintBitsToFloat(level);
  address.clamp = uintBitsToFloat(clamp_level);
  address.gradients[0] = uintBitsToFloat(uvec3(g0, g1, g2));
  address.gradients[1] = uintBitsToFloat(uvec3(g3, g4, g5));
  const bool unnormalised = (flags & kUnnormalised) != 0 || s.unnormalised;
  const uvec4 results = (flags & kGathers) != 0 ? gathered(image, s, address, flags, unnormalised, where)
                                                : filtered(image, s, address, flags, unnormalised, where);
  const bool integer = is_integer(image.format) && (flags & kCompares) == 0;
  return (flags & kHalves) != 0 ? to_halves(integer, results) : results;
}

void main() {}
