#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 256) in;
INPUT(0, data, uint)
BUFFER(1, total, uint)
shared uint partial[256];
void main() {
  uint l = LOCAL, sum = 0, n = value_u(0), groups = value_u(1);
  for (uint i = GROUP_X * 256 + l; i < n; i += groups * 256) sum += data[i];
  partial[l] = sum;
  barrier();
  for (uint d = 128; d > 0; d >>= 1) {
    if (l < d) partial[l] += partial[l + d];
    barrier();
  }
  if (l == 0) atomicAdd(total[0], partial[0]);
}
