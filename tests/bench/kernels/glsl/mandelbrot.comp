#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 8, local_size_y = 8) in;
BUFFER(0, result, uint)
void main() {
  uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y, w = value_u(0), h = value_u(1), limit = value_u(5);
  if (x >= w || y >= h) return;
  EXACT float cr = value_f(2) + x * value_f(4), ci = value_f(3) + y * value_f(4), zr = 0, zi = 0;
  uint count = 0;
  while (count < limit) {
    EXACT float size = zr * zr + zi * zi;
    if (!(size < 4.0)) break;
    EXACT float t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
    count++;
  }
  result[y * w + x] = count;
}
