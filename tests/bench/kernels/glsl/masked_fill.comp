#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
#define GROUP 64
#include "wave.glsl"
layout(local_size_x = GROUP) in;
INPUT(0, source, uint)
BUFFER(1, result, uint)
BUFFER(2, masks, uint64_t)
void main() {
  uint i = GROUP_X * 64 + LOCAL, n = value_u(0);
  bool chosen = i < n && (source[i & 1023] & 3) != 0;
  uint64_t mask = wave_ballot(chosen);
  uvec2 w = unpackUint2x32(mask);
  if (mask != 0ul && chosen) result[i] = uint(bitCount(w.x) + bitCount(w.y)) << 16 | i;
  if (LOCAL % WAVE == 0) masks[i / WAVE] = mask;
}
