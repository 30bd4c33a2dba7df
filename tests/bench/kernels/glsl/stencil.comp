#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
INPUT(0, source, float)
BUFFER(1, result, float)
void main() {
  int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y), w = int(value_u(0)), h = int(value_u(1));
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int i = y * w + x;
  EXACT float r = 0.5 * source[i] + 0.125 * (source[i - 1] + source[i + 1] + source[i - w] + source[i + w]);
  result[i] = r;
}
