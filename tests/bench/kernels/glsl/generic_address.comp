#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Global { float g[]; };
layout(set = 0, binding = 1, std430) buffer Result { float result[]; };
shared float cells[64];
void main() {
  uint l = LOCAL, i = GROUP_X * 64 + l, k = value_u(0), n = value_u(1);
  cells[l] = g[i];
  barrier();
  float own[4] = float[](1, 2, 3, g[i]);
  if (((l ^ k) & 1) != 0) {
    result[i] = cells[l];
    cells[l] = 2;
  } else if ((l & 2) != 0) {
    result[i] = g[i];
    g[i] = 2;
  } else {
    result[i] = own[k & 3];
    own[k & 3] = 2;
  }
  result[i + n] = own[l & 3] + cells[l];
}
