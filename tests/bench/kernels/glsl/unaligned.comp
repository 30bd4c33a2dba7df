#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
INPUT(0, source, uint8_t)
BUFFER(1, target, uint8_t)
// Dwords at any alignment, byte by byte.
uint load(uint at, uint bytes) {
  uint v = 0;
  for (uint k = 0; k < bytes; k++) v |= uint(source[at + k]) << (8 * k);
  return v;
}
void store(uint at, uint v, uint bytes) {
  for (uint k = 0; k < bytes; k++) target[at + k] = uint8_t(v >> (8 * k));
}
void main() {
  uint i = GROUP_X * 64 + LOCAL;
  if (i >= value_u(0)) return;
  uint in_at = 37 * i, out_at = 35 * i;
  uvec4 v = uvec4(load(in_at, 4), load(in_at + 4, 4), load(in_at + 8, 4), load(in_at + 12, 4));
  uvec2 w = uvec2(load(in_at + 17, 4), load(in_at + 21, 4));
  uint x = load(in_at + 26, 4), y = load(in_at + 31, 2);
  v += i;
  w ^= i;
  for (uint k = 0; k < 4; k++) store(out_at + 1 + 4 * k, v[k], 4);
  for (uint k = 0; k < 2; k++) store(out_at + 17 + 4 * k, w[k], 4);
  store(out_at + 25, x * 3, 4);
  store(out_at + 30, y + i, 2);
}
