#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 32) in;
INPUT(0, source, uint)
BUFFER(1, result, uint)
shared uint cells[32];
void main() {
  uint l = LOCAL, i = GROUP_X * 32 + l, v = source[i];
  for (uint step = 1; step < 32; step <<= 1) {
    cells[l] = v;
    barrier();
    uint other = cells[l ^ step];
    barrier();
    v = v * 5 + other;
  }
  result[i] = v;
}
