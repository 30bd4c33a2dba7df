#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
BUFFER(0, d, uint)
void main() {
  uint i = gl_GlobalInvocationID.x, j = value_u(0), k = value_u(1), other = i ^ j;
  if (other > i) {
    uint a = d[i], b = d[other];
    if (((i & k) == 0) == (a > b)) {
      d[i] = b;
      d[other] = a;
    }
  }
}
