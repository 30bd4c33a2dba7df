// Pixels of 32 bits between a surface in guest memory (64KB_R_X, or rows) and rows without gaps. Compiled by hand:
// glslangValidator -V --target-env vulkan1.3 -x -o surface_copy.inc surface_copy.comp
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Pixels {
  uint pixel[];
};
layout(push_constant, std430) uniform Push {
  uint64_t surface, rows;
  uint width, height;
  uint pitch;  // pixels; 0: tiled
  uint back;   // not 0: from rows to the surface
} push;

// shared/swizzle.hpp
const uint kX[7] = uint[](0x1u, 0x2u, 0x20u, 0x40u, 0x880u, 0x200u, 0x2100u);
const uint kY[7] = uint[](0x4u, 0x8u, 0x10u, 0x440u, 0x80u, 0x100u, 0x1200u);

uint tiled(uvec2 at) {
  uint inside = 0u;
  for (uint bit = 0u; bit < 7u; ++bit) {
    inside ^= (((at.x >> bit) & 1u) * kX[bit]) ^ (((at.y >> bit) & 1u) * kY[bit]);
  }
  uint block = (at.y >> 7) * ((push.width + 127u) >> 7) + (at.x >> 7);
  return block * 0x4000u + inside;
}

void main() {
  uvec2 at = gl_GlobalInvocationID.xy;
  if (at.x >= push.width || at.y >= push.height) return;
  uint there = push.pitch == 0u ? tiled(at) : at.y * push.pitch + at.x, here = at.y * push.width + at.x;
  if (push.back != 0u) {
    Pixels(push.surface).pixel[there] = Pixels(push.rows).pixel[here];
  } else {
    Pixels(push.rows).pixel[here] = Pixels(push.surface).pixel[there];
  }
}
