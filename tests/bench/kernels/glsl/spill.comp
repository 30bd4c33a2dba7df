#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
INPUT(0, source, uint)
BUFFER(1, result, uint)
void main() {
  uint i = GROUP_X * 64 + LOCAL, n = value_u(0);
  uint own[64];
  for (uint k = 0; k < 64; k++) own[k] = source[i * 64 + k];
  for (uint r = 0; r < n; r++) {
    uint a = source[r] & 63, b = source[r + 1] & 63, t = own[a];
    own[a] = own[b] ^ r;
    own[b] = t;
  }
  for (uint k = 0; k < 64; k++) result[i * 64 + k] = own[k];
}
