#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
INPUT(0, x, float)
BUFFER(1, y, float)
void main() {
  uint i = GROUP_X * 64 + LOCAL;
  float a = i < x.length() ? x[i] : 0, b = i < y.length() ? y[i] : 0;
  EXACT float r = value_f(0) * a + b;
  if (i < y.length()) y[i] = r;
}
