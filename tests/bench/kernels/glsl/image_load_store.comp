#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 8, local_size_y = 8) in;
INPUT(0, from, uint)
BUFFER(1, to, float)
// The images are square and linear: texels of four bytes, outside them loads give 0.
vec4 texel(uint side, uint x, uint y) { return x < side && y < side ? unpackUnorm4x8(from[y * side + x]) : vec4(0); }
void main() {
  uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y, side = gl_NumWorkGroups.x * 8;
  vec4 own = texel(side, x, y), left = texel(side, x - 1, y), below = texel(side, x, y + 1);
  EXACT float r = own.x * 0.5 + left.y * 0.25 + below.z * 0.125 + own.w;
  to[y * side + x] = r;
}
