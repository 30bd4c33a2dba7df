#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
INPUT(0, from, uint)
BUFFER(1, to, vec4)
// The image is square and linear, its texels four bytes; the sampler repeats it. Coordinates in 1/256 of a texel, weights too.
uvec3 footprint(float coordinate, uint n) {
  EXACT float shifted = (coordinate - floor(coordinate)) * float(n) - 0.5;
  EXACT float scaled = shifted * 256.0 + 0.5;
  int fixed_point = int(floor(scaled));
  uint first = uint((fixed_point >> 8) + int(n)) % n;
  return uvec3(first, first + 1 == n ? 0 : first + 1, uint(fixed_point & 255));
}
vec4 texel(uint side, uint x, uint y) { return unpackUnorm4x8(from[y * side + x]); }
void main() {
  uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y, side = value_u(1);
  EXACT float u = (float(x) * 1.75 - float(y) * 0.25) / float(side) - 0.3125;
  EXACT float v = (float(x) * 0.25 + float(y) * 1.5) / float(side) - 0.28125;
  uvec3 a = footprint(v, side), b = footprint(u, side);
  vec4 near = vec4(texel(side, a.x, b.y).y, texel(side, a.y, b.y).y, texel(side, a.y, b.x).y, texel(side, a.x, b.x).y);
  EXACT vec4 sum = vec4(0);
  for (uint n = 0; n < 4; ++n) {
    bool right = (n & 1) != 0, below = (n & 2) != 0;
    EXACT float weight = float(right ? b.z : 256 - b.z) / 256.0 * (float(below ? a.z : 256 - a.z) / 256.0);
    sum = sum + weight * texel(side, right ? b.y : b.x, below ? a.y : a.x);
  }
  EXACT float gathered = near.x - near.y * 0.5 + near.z * 0.25 - near.w * 0.125;
  EXACT vec4 result = sum + gathered;
  to[y * side + x] = result;
}
