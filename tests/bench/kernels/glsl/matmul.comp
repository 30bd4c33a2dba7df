#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
INPUT(0, a, float)
INPUT(1, b, float)
BUFFER(2, c, float)
shared float tile_a[16][16], tile_b[16][17];
void main() {
  uint n = value_u(0), lx = LOCAL, ly = gl_LocalInvocationID.y, x = GROUP_X * 16 + lx, y = gl_WorkGroupID.y * 16 + ly;
  float sum = 0;
  for (uint t = 0; t < n; t += 16) {
    tile_a[ly][lx] = a[y * n + t + lx];
    tile_b[ly][lx] = b[(t + ly) * n + x];
    barrier();
    for (uint k = 0; k < 16; k++) sum = fma(tile_a[ly][k], tile_b[k][lx], sum);
    barrier();
  }
  c[y * n + x] = sum;
}
