#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 256) in;
INPUT(0, source, uint)
BUFFER(1, result, uint)
BUFFER(2, sums, uint)
shared uint s[512];
void main() {
  uint l = LOCAL, block = GROUP_X * 512, offset = 1, n = value_u(0);
  s[2 * l] = block + 2 * l < n ? source[block + 2 * l] : 0;
  s[2 * l + 1] = block + 2 * l + 1 < n ? source[block + 2 * l + 1] : 0;
  for (uint d = 256; d > 0; d >>= 1) {
    barrier();
    if (l < d) {
      uint a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1;
      s[b] += s[a];
    }
    offset <<= 1;
  }
  if (l == 0) {
    sums[GROUP_X] = s[511];
    s[511] = 0;
  }
  for (uint d = 1; d < 512; d <<= 1) {
    offset >>= 1;
    barrier();
    if (l < d) {
      uint a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1, t = s[a];
      s[a] = s[b];
      s[b] += t;
    }
  }
  barrier();
  if (block + 2 * l < n) result[block + 2 * l] = s[2 * l];
  if (block + 2 * l + 1 < n) result[block + 2 * l + 1] = s[2 * l + 1];
}
