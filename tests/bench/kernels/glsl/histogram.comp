#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 256) in;
INPUT(0, data, uint8_t)
BUFFER(1, bins, uint)
shared uint counts[256];
void main() {
  uint l = LOCAL, n = value_u(0), groups = value_u(1);
  counts[l] = 0;
  barrier();
  for (uint i = GROUP_X * 256 + l; i < n; i += groups * 256) atomicAdd(counts[uint(data[i])], 1);
  barrier();
  if (counts[l] != 0) atomicAdd(bins[l], counts[l]);
}
