#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
INPUT(0, descriptors, uvec4)
INPUT(1, constants, float)
INPUT(2, x, float)
BUFFER(3, y, float)
void main() {
  uint i = GROUP_X * 64 + LOCAL;
  EXACT float r = constants[0] * (i < x.length() ? x[i] : 0) + constants[1];
  if (i < y.length()) y[i] = r;
}
