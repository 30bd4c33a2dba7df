#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
#define GROUP 128
#include "wave.glsl"
layout(local_size_x = GROUP) in;
INPUT(0, source, uint)
BUFFER(1, result, uint)
BUFFER(2, counts, uint)
uint count(uint64_t mask) { return uint(bitCount(unpackUint2x32(mask).x) + bitCount(unpackUint2x32(mask).y)); }
uint leading_zeros(uint64_t mask) {
  uvec2 w = unpackUint2x32(mask);
  return w.y != 0 ? 31 - findMSB(w.y) : w.x != 0 ? 63 - findMSB(w.x) : 64;
}
void main() {
  uint i = GROUP_X * 128 + LOCAL, wave = i / WAVE;
  bool runs = i < push.threads;
  uint value = runs ? source[i] : 0;
  uint64_t kept = wave_ballot(runs && (value & 7) < 2), rest = wave_ballot(runs && (value & 7) >= 2);
  if (kept == 0ul) return;
  if ((kept >> (LOCAL % WAVE) & 1ul) != 0ul) result[wave * WAVE + lanes_below(kept)] = value;
  if (LOCAL % WAVE == 0) counts[wave] = count(kept) | count(rest) << 8 | leading_zeros(kept) << 16;
}
