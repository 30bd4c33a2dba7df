#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
INPUT(0, start, uint)
BUFFER(1, result, uint)
void main() {
  uint i = GROUP_X * 64 + LOCAL;
  if (i >= value_u(0)) return;
  uint64_t v = start[i];
  uint count = 0;
  while (v != 1ul) {
    if ((v & 1ul) != 0ul) {
      if (v % 3ul == 0ul && count > 100) break;
      v = 3ul * v + 1ul;
    } else {
      v >>= 1;
      if (v == 7ul) {
        count += 3;
        continue;
      }
    }
    count++;
    if (count > 1000) return;
  }
  result[i] = count;
}
