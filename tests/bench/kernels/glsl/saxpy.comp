#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
INPUT(0, x, float)
BUFFER(1, y, float)
void main() {
  uint i = GROUP_X * 64 + LOCAL;
  if (i < value_u(1)) {
    EXACT float r = value_f(0) * x[i] + y[i];
    y[i] = r;
  }
}
